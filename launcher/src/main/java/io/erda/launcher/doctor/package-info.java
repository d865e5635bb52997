/**
 * The checks of {@code ./erda doctor}: each class examines one topic about this machine and this
 * user.
 */
package io.erda.launcher.doctor;
