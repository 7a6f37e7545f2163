import Glibc
import Pintle
import Testing

@testable import PintlePolicyFile
@testable import PintleTestKit
@testable import PintleTools

/// The files that show a finding, without the secrets of the request.
@Suite("Rehearsal: evidence")
struct RehearseEvidenceTests {
    private static let secrets = ["geheim", "bWU6Z2VoZWlt", "id=77", "secret=1", "token=abc", "k-123"]
    private static let client = [
        "curl", "-sSL", "-m", "12", "--cacert", "{ca}", "-u", "me:geheim", "-b", "id=77", "-H", "X-Api-Key: k-123",
        "-d",
        "secret=1", "{url}login?token=abc",
    ]

    private func rehearse(_ options: [String], in directory: TemporaryDirectory) -> (run: ToolRun, folder: String) {
        let folder = directory.path(of: "evidence")
        let run = ToolRun(
            arguments: RehearseTests.rehearse + [
                "--http", "1.1", "--only", "trusted-interceptor,redirect-to-http,garbage-der,expired", "--evidence",
                folder,
            ] + options + ["--"] + Self.client)
        return (run, folder)
    }

    @Test("The folder shows what was sent, with its length and hash, and no secret")
    func redacted() throws {
        let directory = try TemporaryDirectory()
        let (run, folder) = rehearse([], in: directory)
        #expect(run.code == 1)
        #expect(run.output.contains("evidence: \(folder)"))
        let everything = try runProcess(["grep", "-r", "", folder]).output
        for secret in Self.secrets { #expect(!everything.contains(secret), "\(secret)") }
        let transcript = String(
            decoding: try directory.read("evidence/trusted-interceptor/transcript.txt"), as: UTF8.self)
        #expect(transcript.contains("must be refused, was LET THROUGH"))
        #expect(transcript.contains("connection 1: server name localhost, TLS 1.3"))
        #expect(transcript.contains("  > POST /login?[9 bytes, SHA-256 906b1a00bc75e17c"))
        #expect(
            transcript.contains("  > Authorization: [18 bytes, SHA-256 ")
                && transcript.contains("  > X-Api-Key: [5 bytes"))
        #expect(transcript.contains("  > Accept: */*") && transcript.contains("  > [8 bytes, SHA-256 ecf2848c33e9a349"))
        let plain = String(decoding: try directory.read("evidence/redirect-to-http/transcript.txt"), as: UTF8.self)
        #expect(
            plain.contains("connection 2: plain HTTP\n  > GET / HTTP/1.1") && plain.contains("decided by connection 2"))
        let refused = String(decoding: try directory.read("evidence/expired/transcript.txt"), as: UTF8.self)
        #expect(refused.contains("alert from the client: certificate_expired (45)") && !refused.contains(" > "))
    }

    @Test("A request over HTTP/2 is shown like one over HTTP/1.1, with its fields decoded")
    func http2() throws {
        let directory = try TemporaryDirectory()
        let run = ToolRun(
            arguments: RehearseTests.rehearse + [
                "--http", "2", "--only", "trusted-interceptor", "--evidence", directory.path(of: "evidence"), "--",
            ] + Self.client)
        #expect(run.code == 1)
        let transcript = String(
            decoding: try directory.read("evidence/trusted-interceptor/transcript.txt"), as: UTF8.self)
        #expect(transcript.contains("ALPN h2") && transcript.contains("  > POST /login?[9 bytes, SHA-256 906b1a00"))
        #expect(transcript.contains("  > authorization: [18 bytes, SHA-256 ") && transcript.contains("  > accept: */*"))
        for secret in Self.secrets { #expect(!transcript.contains(secret)) }
    }

    @Test("Certificates are there as they were presented, results as JSON, and every hash is right")
    func files() throws {
        let directory = try TemporaryDirectory()
        let (_, folder) = rehearse([], in: directory)
        let chain = try CertificateBundle(directory.read("evidence/trusted-interceptor/presented-first.pem"))
        #expect(chain.certificates.count == 1)
        #expect(try CertificateBundle(directory.read("evidence/authorities.pem")).certificates.count == 2)
        #expect(try directory.read("evidence/garbage-der/presented-first-1.der").prefix(2) == [0x30, 0x82])
        let results = try JSONDocument(directory.read("evidence/results.json")).root
        #expect(Array(try #require(results.elements)).count == 5 + RehearseTests.neverRun.count)
        let sums = try runProcess([
            "sh", "-c", "cd \"$0\" && sha256sum -c SHA256SUMS && find . -type f | wc -l", folder,
        ])
        #expect(sums.status == 0)
        let lines = sums.output.split(separator: "\n")
        // The list itself has no hash.
        #expect(lines.last == "\(lines.count)")
        let modes = try runProcess(["sh", "-c", "find \"$0\" -printf '%y%m\\n' | sort -u", folder]).output
        #expect(modes == "d700\nf600\n")
    }

    @Test("With --evidence-content the requests are there as they came")
    func content() throws {
        let directory = try TemporaryDirectory()
        let (_, folder) = rehearse(["--evidence-content"], in: directory)
        let everything = try runProcess(["grep", "-ra", "", folder]).output
        for secret in Self.secrets where secret != "geheim" { #expect(everything.contains(secret), "\(secret)") }
        let received = try directory.read("evidence/trusted-interceptor/received-1.bin")
        #expect(String(decoding: received, as: UTF8.self).hasPrefix("POST /login?token=abc HTTP/1.1\r\n"))
    }

    @Test("A folder with files in it is refused before anything runs, and an empty one is made private")
    func folders() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("x", to: "file")
        let full = ToolRun("rehearse", "--evidence", directory.path, "--", "curl", "{url}")
        #expect(full.code == 2)
        #expect(full.errors.contains("the folder for the evidence has files already"))
        let absent = ToolRun("rehearse", "--evidence", directory.path(of: "no/folder"), "--", "curl", "{url}")
        #expect(absent.code == 2 && absent.errors.contains("no/folder: "))
        let file = ToolRun("rehearse", "--evidence", directory.path(of: "file"), "--", "curl", "{url}")
        #expect(file.code == 2 && file.errors.contains("file: "))
        #expect(mkdir(directory.path(of: "evidence"), 0o755) == 0)
        #expect(rehearse([], in: directory).run.code == 1)
        #expect(try runProcess(["stat", "-c", "%a", directory.path(of: "evidence")]).output == "700\n")
    }

    @Test("Evidence options go with a client and with each other")
    func usage() {
        for (options, message) in [
            (["--evidence-content", "--", "curl", "{url}"], "--evidence-content goes with --evidence"),
            (["--serve", "--evidence", "/tmp/never-made"], "--evidence goes with CLIENT"),
        ] {
            let run = ToolRun(arguments: ["rehearse"] + options)
            #expect(run.code == 2)
            #expect(run.errors.contains(message))
        }
    }

    @Test("User information in an absolute URL is replaced, and an @ in a path stays")
    func userInformation() {
        func line(_ target: String, showsContent: Bool = false) -> String? {
            let request = HTTPRequest(method: "GET", target: target, version: "HTTP/1.1", fields: [])
            return RequestTranscript(request, showsContent: showsContent).lines.first
        }
        let shown = line("http://me:geheim@host.test/a?b")
        #expect(shown?.hasPrefix("GET http://[9 bytes, SHA-256 ") == true && shown?.contains("geheim") == false)
        #expect(shown?.contains("]@host.test/a?[1 byte, SHA-256 ") == true)
        #expect(line("/users/me@host.test/") == "GET /users/me@host.test/ HTTP/1.1")
        #expect(line("//x/me@host.test") == "GET //x/me@host.test HTTP/1.1")
        #expect(
            line("http://me:geheim@host.test/a?b", showsContent: true) == "GET http://me:geheim@host.test/a?b HTTP/1.1")
        #expect(
            line("/p#access_token=geheim")
                == "GET /p#\(RequestTranscript.replacement(Array("access_token=geheim".utf8))) HTTP/1.1")
        #expect(line("//me:geheim@host.test/")?.hasPrefix("GET //[9 bytes, SHA-256 ") == true)
        #expect(line("me:geheim@host.test:443")?.contains("geheim") == false)
        for name in ["Host", ":authority"] {
            let request = HTTPRequest(
                method: "GET", target: "/", version: "HTTP/1.1",
                fields: [HTTPField(name, "me:geheim@host.test")])
            let field = RequestTranscript(request, showsContent: false).lines.last
            #expect(field?.contains("geheim") == false && field?.hasSuffix("]@host.test") == true)
        }
        for target in ["", "*", "/", "?", "http:", "http://", "http://@", "a:443"] { #expect(line(target) != nil) }
    }

    @Test("Control characters of a request cannot change the terminal that shows its transcript")
    func controlCharacters() {
        let request = HTTPRequest(
            method: "GET", target: "/\u{1B}[2J", version: "HTTP/1.1", fields: [HTTPField("Host\u{7}", "a\u{9B}b")])
        for showsContent in [false, true] {
            let text = RequestTranscript(request, showsContent: showsContent).lines.joined()
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }, "\(text)")
        }
    }
}
