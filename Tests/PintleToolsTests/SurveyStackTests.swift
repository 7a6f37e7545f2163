import Glibc
import Pintle
import PintleTestKit
import Testing

/// Processes with two TLS stacks or two sessions, and clients whose pins are known.
@Suite("Survey: stacks")
struct SurveyStackTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func has(_ program: String) -> Bool {
        (try? runProcess(["sh", "-c", "command -v \(program)"]))?.status == 0
    }

    /// Returns the answers of a client by host and port.
    private func answers(_ options: [String], _ client: String...) throws -> [String: String] {
        let run = ToolRun(
            arguments: ["rehearse", "--proxy", "--survey", "--json", "--timeout", "120"] + options + ["--"] + client)
        #expect(run.code == 0, "\(run.errors)")
        return try SurveyFixture.answers(run)
    }

    @Test("Clients whose pins are known have the answers of their pins")
    func knownClients() throws {
        let named = ["--host", "api.example.com"]
        let host = "api.example.com:443"
        #expect(try answers(named, "curl", "-sS", "-m", "20", "--cacert", "{ca}", "{url}") == [host: "unpinned"])
        #expect(
            try answers(named, "curl", "-sS", "-m", "20", "--cacert", "{ca}", "--pinnedpubkey", "{pins}", "{url}")
                == [host: "pinned"])
        guard has("wget") else { return }
        let wget = ["wget", "-q", "-O", "/dev/null", "--no-hsts", "--tries=1", "--timeout=20", "--ca-certificate={ca}"]
        for (options, answer) in [([], "unpinned"), (["--pinnedpubkey={pins}"], "pinned")] {
            let run = ToolRun(
                arguments: ["rehearse", "--proxy", "--survey", "--json"] + named + ["--"] + wget + options + ["{url}"])
            #expect(try SurveyFixture.answers(run) == [host: answer], "\(run.output)")
        }
    }

    @Test("A pinned session and libcurl share a host", .enabled(if: SurveyStackTests.session != nil))
    func pinnedSession() throws {
        let session = try #require(Self.session)
        let named = ["--host", "api.example.com"]
        let pinned = "\"$0\" \"$1\" https://api.example.com/; exit 0"
        #expect(
            try answers(named, "sh", "-c", pinned, session, "{policy}") == ["api.example.com:443": "pinned"])
        let script = "curl -sS -m 20 --http1.1 --cacert \"$2\" https://api.example.com/; " + pinned
        #expect(
            try answers(named, "sh", "-c", script, session, "{policy}", "{ca}") == ["api.example.com:443": "both"])
    }

    private static let session = siblingProgram("Rehearsing")

    @Test("Python with and without the authority: unpinned and refused, although both have one ClientHello")
    func python() throws {
        let script = try directory.write(
            """
            import http.client, os, ssl, sys, urllib.parse
            proxy = urllib.parse.urlparse(os.environ["HTTPS_PROXY"])
            for host, file in (("a.example", sys.argv[1]), ("b.example", None)):
                connection = http.client.HTTPSConnection(
                    proxy.hostname, proxy.port, context=ssl.create_default_context(cafile=file), timeout=20)
                connection.set_tunnel(host, 443)
                try:
                    connection.request("GET", "/")
                    connection.getresponse().read()
                except ssl.SSLError:
                    pass

            """, to: "two.py")
        #expect(
            try answers([], "python3", script, "{ca}") == ["a.example:443": "unpinned", "b.example:443": "refused"])
    }

    @Test("Java's HttpClient with the authority and HttpsURLConnection without it share a host")
    func java() throws {
        guard has("java"), has("javac") else { return }
        let source = try directory.write(
            """
            import java.net.*; import java.net.http.*; import java.nio.file.*; import java.security.KeyStore;
            import java.security.cert.CertificateFactory; import javax.net.ssl.*;
            public class Two {
                public static void main(String[] words) throws Exception {
                    var store = KeyStore.getInstance(KeyStore.getDefaultType());
                    store.load(null, null);
                    try (var file = Files.newInputStream(Path.of(words[0]))) {
                        store.setCertificateEntry("a", CertificateFactory.getInstance("X.509").generateCertificate(file));
                    }
                    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                    trust.init(store);
                    var context = SSLContext.getInstance("TLS");
                    context.init(null, trust.getTrustManagers(), null);
                    var proxy = new InetSocketAddress("127.0.0.1", Integer.parseInt(words[1]));
                    var client = HttpClient.newBuilder().sslContext(context).proxy(ProxySelector.of(proxy)).build();
                    try {
                        client.send(HttpRequest.newBuilder(URI.create("https://shared.example/")).build(),
                            HttpResponse.BodyHandlers.ofString());
                    } catch (java.io.IOException e) {}
                    for (var url : new String[] {"https://shared.example/", "https://other.example/"}) {
                        try {
                            new URL(url).openConnection(new Proxy(Proxy.Type.HTTP, proxy)).getInputStream().readAllBytes();
                        } catch (java.io.IOException e) {}
                    }
                }
            }

            """, to: "Two.java")
        #expect(
            try answers([], "java", source, "{ca}", "{proxy-port}")
                == ["shared.example:443": "both", "other.example:443": "refused"])
    }
}
