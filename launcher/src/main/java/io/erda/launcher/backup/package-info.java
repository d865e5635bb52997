/** The contents of a store outside of it: the file of a backup, and lines of JSON. */
package io.erda.launcher.backup;
