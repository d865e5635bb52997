package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * A process that gets requests to a store on its standard input, and answers each with one line.
 */
final class ReadingUser {
  private ReadingUser() {}

  public static void main(String[] args) throws IOException {
    try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
      ErdaClient erda = null;
      String line;
      while ((line = in.readLine()) != null) {
        String[] words = line.split(" ", 2);
        String said;
        try {
          if (words[0].equals("connect")) {
            erda = ErdaClient.connect(words[1]);
            said = "connected";
          } else {
            said = ask(erda, words);
          }
        } catch (ErdaException e) {
          said = e.getClass().getSimpleName() + ": " + e.getMessage();
        }
        System.out.println(said);
      }
    }
  }

  private static String ask(ErdaClient erda, String[] words) {
    switch (words[0]) {
      case "get" -> {
        byte[] value = erda.get(words[1].getBytes(UTF_8));
        return value == null ? "absent" : new String(value, UTF_8);
      }
      case "put" -> {
        erda.put(words[1].getBytes(UTF_8), new byte[1]);
        return "put";
      }
      default -> {
        int count = 0;
        try (KeyCursor keys = erda.keys()) {
          while (keys.next()) {
            count++;
          }
        }
        return count + " keys";
      }
    }
  }
}
