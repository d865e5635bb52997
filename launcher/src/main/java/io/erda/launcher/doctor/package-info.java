/** What this machine and this user can do for Erda: each class examines one topic. */
package io.erda.launcher.doctor;
