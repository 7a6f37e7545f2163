import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// A client that crashes after its refusal has still refused, because its alert to the server decides.
@Suite("Rehearsal: clients that end by a signal")
struct RehearseCrashTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A TLS client that validates. It answers bad certificates with the given alerts, one for each connection, and
    /// then ends by SIGSEGV; 0 means no alert.
    private static let client = """
        import os, re, signal, socket, ssl, sys
        url, ca, mode = sys.argv[1:4]
        port = int(re.search(r":(\\d+)/", url).group(1))
        for alert in mode.split(","):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            context = ssl.create_default_context(cafile=ca)
            if alert == "blind":
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
            stream = socket.create_connection(("127.0.0.1", port))
            while True:
                try:
                    tls.do_handshake()
                    tls.write(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                    stream.sendall(outgoing.read())
                    stream.recv(4096)
                    sys.exit(0)
                except ssl.SSLWantReadError:
                    stream.sendall(outgoing.read())
                    incoming.write(stream.recv(65536))
                except ssl.SSLError:
                    break
            if int(alert):
                stream.sendall(bytes([21, 3, 3, 0, 2, 2, int(alert)]))
                while stream.recv(4096): pass
            stream.close()
        os.kill(os.getpid(), signal.SIGSEGV)
        """

    /// - Parameter alerts: the alert for each connection, 0 for none, or "blind" for a connection without validation.
    private func outcome(
        _ alerts: String, of attack: String = "untrusted-ca"
    ) throws -> (outcome: String?, remark: String?) {
        let file = try directory.write(Self.client, to: "client.py")
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--only", attack, "--", "python3", file]
                + ["{url}", "{ca}", alerts])
        let result = try #require(try run.json().elements.map(Array.init)).first { $0["id"]?.string == attack }
        #expect(run.code == (result?["outcome"]?.string == "blocked" ? 0 : 1), "\(run.output) \(run.errors)")
        return (result?["outcome"]?.string, result?["remark"]?.string)
    }

    @Test(
        "A client that sends an alert about the certificate on each connection and then crashes has refused it",
        arguments: ["42", "43", "44", "45", "46", "48", "49", "48,42"])
    func refusal(alerts: String) throws {
        #expect(try outcome(alerts).outcome == "blocked")
    }

    @Test(
        "A crash without such an alert on each connection is not a refusal",
        arguments: ["0", "50", "47", "40", "48,0", "0,48", "48,50"])
    func crash(alerts: String) throws {
        let (outcome, remark) = try outcome(alerts)
        #expect(outcome == "inconclusive")
        #expect(remark == "ended by signal 11")
    }

    @Test("A client that sends an alert and then retries without validation has let the attack through")
    func retry() throws {
        #expect(try outcome("48,blind").outcome == "let-through")
        #expect(try outcome("48,48").outcome == "blocked")
    }

    @Test("The run fails if such a client blocks a change that a server may make")
    func change() throws {
        let file = try directory.write(
            Self.client.replacing("tls.do_handshake()", with: "tls.do_handshake()\n            pinned(tls)")
                .replacing("import os,", with: Self.pinning), to: "client.py")
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--only", "rotated-to-backup-key", "--", "python3", file]
                + ["{url}", "{ca}", "42", "{pin-base64}"])
        #expect(run.code == 1)
        #expect(try RehearseTests.outcomes(run)["rotated-to-backup-key"] == "blocked", "\(run.output) \(run.errors)")
    }

    /// A check that refuses a certificate if the hash of its key is not the fourth argument.
    private static let pinning = """
        import base64, hashlib, subprocess
        def pinned(tls):
            pem = ssl.DER_cert_to_PEM_cert(tls.getpeercert(True)).encode()
            key = subprocess.run(["openssl", "x509", "-noout", "-pubkey"], input=pem, stdout=-1).stdout
            der = base64.b64decode(b"".join(key.split(b"\\n")[1:-2]))
            if base64.b64encode(hashlib.sha256(der).digest()).decode() != sys.argv[4]: raise ssl.SSLError()
        import os,
        """
}
