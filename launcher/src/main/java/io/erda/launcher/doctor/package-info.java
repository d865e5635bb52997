/**
 * The checks of {@code ./erda doctor}: each class examines one topic about this machine and this
 * user.
 *
 * <p>Read {@code Doctor} first, which runs all checks, then {@code Finding}, their result. A class
 * whose name ends with {@code Findings} or {@code Finding} checks its topic in {@code
 * Surroundings}, which tests replace.
 */
package io.erda.launcher.doctor;
