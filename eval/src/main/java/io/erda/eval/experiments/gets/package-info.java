/** How long gets take, beside the least that they can and beside Redis. */
package io.erda.eval.experiments.gets;
