/**
 * Kill torture: real processes, killed, stopped and restarted at random, and the complete history
 * checked afterwards.
 */
package io.erda.torture;
