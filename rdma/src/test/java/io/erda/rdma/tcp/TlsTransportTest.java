package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.cert.CertificateException;
import javax.crypto.AEADBadTagException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

/** Which failures of TLS are final, and which another attempt may not meet. */
class TlsTransportTest {
  @Test
  void whoIsNotBelievedIsRefused() {
    assertTrue(
        TlsTransport.isRefusal(
            new SSLHandshakeException("no", new CertificateException("No name matching"))));
    assertTrue(
        TlsTransport.isRefusal(
            new SSLHandshakeException("(handshake_failure) Received fatal alert")));
    assertTrue(
        TlsTransport.isRefusal(
            new SSLHandshakeException("No appropriate protocol (protocol is disabled)")));
  }

  /** Found by a review, which flipped single bits of a handshake. */
  @Test
  void bytesThatWereDamagedOnTheirWayAreNoRefusal() {
    assertFalse(
        TlsTransport.isRefusal(
            new SSLException("Tag mismatch", new AEADBadTagException("Tag mismatch"))));
    assertFalse(TlsTransport.isRefusal(new SSLException("(bad_record_mac) Received fatal alert")));
    assertFalse(
        TlsTransport.isRefusal(
            new SSLException("The size of the handshake message (197376) exceeds the maximum")));
  }
}
