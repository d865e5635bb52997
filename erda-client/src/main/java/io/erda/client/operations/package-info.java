/**
 * What every operation of a client is: its steps, its time-out, its place among those that are
 * under way, and how its outcome reaches whoever asked.
 */
package io.erda.client.operations;
