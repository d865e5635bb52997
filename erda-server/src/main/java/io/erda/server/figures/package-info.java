/** What a server counts and measures: the catalogue of its figures, and the forms they come in. */
package io.erda.server.figures;
