/** What this machine and this user can do for Erda: each class looks at one topic. */
package io.erda.launcher.doctor;
