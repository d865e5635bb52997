package io.erda.simulation.mutants;

import static io.erda.simulation.mutants.Patch.body;
import static io.erda.simulation.mutants.Patch.constant;
import static io.erda.simulation.mutants.Patch.without;

import java.lang.classfile.CodeBuilder;
import java.util.List;

/** The defects of puts that announce first. */
final class AnnounceMutants {
  private static final String WORDS = "server.engine.publishing.AnnouncedWords";
  private static final String GET = "client.gets.Get";
  private static final String LOOK_UP = "client.iteration.KeyWordLookUp";
  private static final String SCAN = "client.iteration.Scan";

  private AnnounceMutants() {}

  /**
   * Those for which a fenced writer completes its object behind the judgement, between two READs of
   * one reader: {@code Scenarios.lateWriters}.
   */
  static final List<Mutant> LATE =
      List.of(
          Mutant.of(
              "no second look",
              "a get believes what it saw of a pending word and does not READ the word again",
              () -> List.of(constant(GET, "conclude", "met", 0))),
          Mutant.of(
              "words not compared",
              "a get READs the word again and takes another one for the same",
              () -> List.of(constant(GET, "onConfirmed", "unchanged", 1))),
          Mutant.of(
              "iteration without a second look",
              "an iteration believes what it saw of a pending word and does not READ the word"
                  + " again",
              () -> List.of(constant(LOOK_UP, "conclude", "met", 0))));

  /** Those for which an object becomes whole between two looks of the server. */
  static final List<Mutant> BETWEEN_LOOKS =
      List.of(
          // ConditionalTest.ofSeveralThatFindNothingOneIsDone finds it in real processes.
          Mutant.of(
              "key not compared again",
              "an entry counts as another key's when its object was not whole at the first look and"
                  + " is at the second",
              () ->
                  List.of(
                      constant("server.engine.tables.StoredObjects", "matches", "hasKey#2", 0))));

  static final List<Mutant> ALL =
      List.of(
          Mutant.of(
              "reads what is committed alone",
              "a get takes the version before a pending one, whole or not",
              () ->
                  List.of(
                      constant(GET, "tryEntries", "announces", 0),
                      constant("client.gets.DirectGet", "run", "announces", 0))),
          Mutant.of(
              "iteration reads what is committed alone",
              "an iteration takes the version before a pending one, whole or not",
              () ->
                  List.of(
                      constant(SCAN, "onTable", "announces", 0),
                      constant(LOOK_UP, "onKeyWord", "announces", 0),
                      constant(LOOK_UP, "tryCandidate", "announces", 0))),
          Mutant.of(
              "commits nothing by the clock",
              "what is whole stays pending until somebody wants the word",
              () -> List.of(body(WORDS, "doWork", code -> code.iconst_0().ireturn()))),
          Mutant.of(
              "condition not looked at by an announcement",
              "a put with a condition is announced whatever the key has",
              () -> List.of(constant("server.engine.service.Announcing", "announce", "test", 0))),
          Mutant.of(
              "whole version rolled back",
              "a word behind which nobody stands is rolled back, though its object is whole",
              () -> List.of(constant(WORDS, "commitOrRollBack", "makeDurable", 0))),
          Mutant.of(
              "writer not fenced",
              "a word is judged while its client may still write and be told that it is done",
              () -> List.of(body(WORDS, "announced", CodeBuilder::return_))),
          Mutant.of(
              "torn version committed",
              "a word is committed before its object is whole",
              () -> List.of(constant(WORDS, "flush", "valid", 1))),
          Mutant.of(
              "judged in sight of readers",
              "a version is rolled back while the structure counter is even",
              () ->
                  List.of(
                      without(WORDS, "judge", "beginMove"), without(WORDS, "judge", "endMove"))));
}
