/**
 * The server, and the store inside a program. A program that wants a store of its own opens it, and
 * uses clients of it as of any store:
 *
 * <p>The rooms of {@code engine} decide everything, without threads or clocks of their own; this
 * package is their wiring. Read {@code ServerAssembly} first, which makes a {@code ServerCore} and
 * the threads that work for it, then {@code ServerThread}, which drives it, and {@code
 * OpenedStore}. In an embedded store the callers take the server's steps ({@code SharedSteps}).
 * Threads that take work off the server's are {@code FileMaker}, {@code PageKeeper} and {@code
 * SyncThreads}; {@code DirectoryWatch} looks whether the store's name still leads to it.
 */
package io.erda.server;
