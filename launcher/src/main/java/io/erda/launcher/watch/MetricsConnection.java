package io.erda.launcher.watch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.protocol.ErdaException;
import io.erda.server.figures.OpenMetrics;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A connection of the endpoint: reads one HTTP request, answers it, and waits until the other end
 * has taken the answer. Owns the socket. One thread runs it; any thread may ask and close it.
 */
final class MetricsConnection implements Runnable {
  private static final int HEAD_BYTES_MAX = 16 << 10;
  private static final int BODY_BYTES_MAX = 64 << 10;
  private static final String ACCEPT = "Accept:";
  private static final String PLAIN = "text/plain; charset=utf-8";
  private static final String HTML = "text/html; charset=utf-8";
  private static final String PAGE_PATH = "/";
  private static final String PAGE = "dashboard.html";

  private final Socket socket;
  private final String path;
  private final MetricsEndpoint.Source source;
  private final long endNs;
  private volatile boolean answers;

  /**
   * @param path the path of the figures
   * @param endNs when to cut it off
   */
  MetricsConnection(Socket socket, String path, MetricsEndpoint.Source source, long endNs) {
    this.socket = socket;
    this.path = path;
    this.source = source;
    this.endNs = endNs;
  }

  /** When to cut the connection off. */
  long endNs() {
    return endNs;
  }

  /** Whether a request has come whose answer is not being sent yet. */
  boolean answers() {
    return answers;
  }

  @Override
  public void run() {
    try {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      List<String> head = head(in);
      answers = true;
      answer(head.getFirst(), accepts(head));
      answers = false;
      // The socket is not closed at once, because closing a socket with unread bytes resets the
      // connection, and the answer may be lost.
      socket.shutdownOutput();
      byte[] ignored = in.readNBytes(BODY_BYTES_MAX);
    } catch (IOException e) {
      // The other end has left, or the connection was cut off.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  /** Reads the lines of a request; the result is empty when it is too long. */
  private static List<String> head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    int lineBegin = 0;
    while (head.length() < HEAD_BYTES_MAX) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("half a request");
      }
      if (next == '\n') {
        if (head.length() == lineBegin) {
          return List.of(head.toString().split("\n", -1));
        }
        lineBegin = head.length() + 1;
      }
      if (next != '\r') {
        head.append((char) next);
      }
    }
    return List.of("");
  }

  /** The value of the request's Accept header; empty when there is none. */
  private static String accepts(List<String> head) {
    return head.stream()
        .filter(line -> line.regionMatches(true, 0, ACCEPT, 0, ACCEPT.length()))
        .map(line -> line.substring(ACCEPT.length()))
        .collect(Collectors.joining(","));
  }

  /**
   * Whether to answer in OpenMetrics: only when the Accept header names it and prefers it to plain
   * text. All other requests get the format that every tool reads.
   */
  static boolean wantsOpenMetrics(String accepts) {
    double open = 0;
    double plain = 0;
    for (String range : accepts.split(",", -1)) {
      String[] parts = range.split(";", -1);
      double quality = quality(parts);
      switch (parts[0].strip().toLowerCase(Locale.ROOT)) {
        case "application/openmetrics-text" -> open = Math.max(open, quality);
        case "text/plain" -> plain = Math.max(plain, quality);
        default -> {
          // Neither of the two formats.
        }
      }
    }
    return open > 0 && open >= plain;
  }

  private static double quality(String[] parts) {
    for (String part : parts) {
      String parameter = part.strip();
      if (parameter.startsWith("q=")) {
        try {
          return Double.parseDouble(parameter.substring(2));
        } catch (NumberFormatException e) {
          return 0;
        }
      }
    }
    return 1;
  }

  private void answer(String request, String accepts) throws IOException, InterruptedException {
    String[] words = request.split(" ", -1);
    String asked = words.length == 3 && words[2].startsWith("HTTP/1.") ? path(words[1]) : null;
    if (asked == null) {
      say("GET", "400 Bad Request", PLAIN, "This is no request\n");
    } else if (!asked.equals(path) && !asked.equals(PAGE_PATH)) {
      say(words[0], "404 Not Found", PLAIN, "The figures are at " + path + "\n");
    } else if (!words[0].equals("GET") && !words[0].equals("HEAD")) {
      say(words[0], "405 Method Not Allowed", PLAIN, "There is GET and HEAD\n");
    } else if (asked.equals(PAGE_PATH)) {
      say(words[0], "200 OK", HTML, page());
    } else {
      figures(words[0], wantsOpenMetrics(accepts));
    }
  }

  /** The path of a request's target, or null. */
  private static String path(String target) {
    try {
      return new URI(target).getPath();
    } catch (URISyntaxException e) {
      return null;
    }
  }

  /** A page that requests and shows the figures. */
  private static String page() throws IOException {
    try (InputStream page = MetricsConnection.class.getResourceAsStream(PAGE)) {
      return new String(page.readAllBytes(), UTF_8);
    }
  }

  private void figures(String method, boolean open) throws IOException, InterruptedException {
    String text;
    try {
      Map<String, Long> figures = source.figures();
      text = open ? OpenMetrics.text(figures) : OpenMetrics.plainText(figures);
    } catch (ErdaException e) {
      say(method, "503 Service Unavailable", PLAIN, e.getMessage() + "\n");
      return;
    }
    say(method, "200 OK", open ? OpenMetrics.CONTENT_TYPE : OpenMetrics.PLAIN_CONTENT_TYPE, text);
  }

  private void say(String method, String status, String type, String text) throws IOException {
    byte[] body = text.getBytes(UTF_8);
    String head =
        "HTTP/1.1 %s\r\n".formatted(status)
            + "Content-Type: %s\r\nContent-Length: ".formatted(type)
            + body.length
            + "\r\n"
            + "Allow: GET, HEAD\r\nConnection: close\r\nVary: Accept\r\n"
            // The page loads nothing from elsewhere, and no other page may embed it.
            + "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline';"
            + " script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'\r\n"
            + "X-Content-Type-Options: nosniff\r\n\r\n";
    byte[] headBytes = head.getBytes(ISO_8859_1);
    byte[] all = new byte[headBytes.length + (method.equals("HEAD") ? 0 : body.length)];
    System.arraycopy(headBytes, 0, all, 0, headBytes.length);
    System.arraycopy(body, 0, all, headBytes.length, all.length - headBytes.length);
    socket.getOutputStream().write(all);
  }

  void close() {
    close(socket);
  }

  static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The connection is closed in any case.
    }
  }
}
