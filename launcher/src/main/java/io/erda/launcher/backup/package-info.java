/**
 * The contents of a store outside of it: the file of a backup, and lines of JSON.
 *
 * <p>Read {@code BackupFormat} first, which has the bytes of the file; {@code BackupWriter} and
 * {@code BackupReader} write and read it. {@code JsonLines} is the text form for {@code export} and
 * {@code import}.
 */
package io.erda.launcher.backup;
