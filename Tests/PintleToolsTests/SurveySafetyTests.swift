import Glibc
import Pintle
import PintleTestKit
import Testing

/// The limits of a survey's authority and answers.
@Suite("Survey: safety")
struct SurveySafetyTests {
    private let fixture: SurveyFixture
    private var directory: TemporaryDirectory { fixture.directory }

    init() throws {
        fixture = try SurveyFixture()
    }

    @Test("Nothing is forwarded: a server that the client asks for by its real address and port gets no connection")
    func sink() throws {
        let sink = try LoopbackTCPServer.http()
        defer { sink.close() }
        let urls = "http://127.0.0.1:\(sink.port)/ https://127.0.0.1:\(sink.port)/ http://localhost:\(sink.port)/"
        let run = SurveyFixture.run(
            "--json", script: "curl -sS -m 20 -k \(urls) || true\ncurl -sS -m 20 -p http://127.0.0.1:\(sink.port)/")
        #expect(try SurveyFixture.answers(run).count == 2, "\(run.output)")
        #expect(sink.connectionCount == 0)
        // The same client reaches the server without the proxy.
        _ = try runProcess(["curl", "-sS", "-m", "20", "--noproxy", "*", "http://127.0.0.1:\(sink.port)/"])
        #expect(sink.connectionCount == 1)
    }

    @Test("The authority's certificate lives two hours and signs leaves only, and no key is written to disk")
    func authority() throws {
        let (copy, files) = (directory.path(of: "copy"), ["r.html", "r.xml", "r.sarif", "expected"])
        let paths = files.map { directory.path(of: $0) }
        let run = SurveyFixture.run(
            "--html", paths[0], "--junit", paths[1], "--sarif", paths[2], "--expect", paths[3], "--record",
            script: """
                [ -e \(copy) ] || cp -r "$(dirname "$1")" \(copy)
                \(SurveyFixture.trusting) https://a.example/
                """)
        #expect(run.code == 0, "\(run.errors)")
        let written = try runProcess(["find", directory.path, "-type", "f"]).output.split(separator: "\n")
        #expect(written.count == files.count + 1, "\(written)")
        let keys = try runProcess(["grep", "-rl", "PRIVATE KEY", directory.path])
        #expect(keys.status == 1 && keys.output.isEmpty, "\(keys.output)")
        let file = copy + "/authority.pem"
        // The same search finds what is there.
        #expect(try runProcess(["grep", "-rl", "BEGIN CERTIFICATE", directory.path]).output == file + "\n")
        let text = try runProcess(["openssl", "x509", "-in", file, "-noout", "-text"]).output
        #expect(text.contains("CA:TRUE, pathlen:0"))
        #expect(try runProcess(["openssl", "x509", "-in", file, "-noout", "-checkend", "7200"]).status == 1)
        #expect(try runProcess(["openssl", "x509", "-in", file, "-noout", "-checkend", "6900"]).status == 0)
    }

    @Test("Answers come from files below the folder of the host; links and .. lead nowhere")
    func answers() throws {
        let folder = directory.path(of: "answers")
        try directory.write("{\"user\": 7}", to: "answers/api.example/v1/users")
        try directory.write("<p>start</p>", to: "answers/api.example/index")
        try directory.write("outside", to: "secret")
        #expect(symlink("../../secret", folder + "/api.example/link") == 0)
        #expect(symlink("..", folder + "/up.example") == 0)
        let script = """
            for path in v1/users '' link ../../secret other; do
                curl -sS -m 20 --cacert "$1" --path-as-is -w ' %{http_code} %{content_type}\\n' "https://api.example/$path"
            done >>\(directory.path(of: "got")) 2>&1
            curl -sS -m 20 --cacert "$1" https://up.example/secret >>\(directory.path(of: "got")) 2>&1
            curl -sS -m 20 --cacert "$1" -H 'Accept: image/png' -w '%{http_code}' https://api.example/picture \
            >>\(directory.path(of: "got")) 2>&1
            """
        #expect(SurveyFixture.run("--answers", folder, script: script).code == 0)
        let got = String(decoding: try directory.read("got"), as: UTF8.self)
        #expect(
            got.hasPrefix(
                """
                {"user": 7} 200 application/json
                <p>start</p> 200 text/html
                {} 200 application/json
                {} 200 application/json
                {} 200 application/json
                {}503
                """), "\(got)")
        #expect(!got.contains("outside"))
    }

    @Test(
        "500 names are surveyed in one run of the tool, within 30 MB of memory", .enabled(if: SpawnedTool.path != nil))
    func manyNames() throws {
        let tool = try #require(SpawnedTool.path)
        let urls = (0..<500).map { "https://host\($0).example/" }.joined(separator: " ")
        let script = """
            curl -sS -m 300 -Z --parallel-max 20 --cacert "$1" \(urls) -o /dev/null >/dev/null 2>&1
            grep VmHWM "/proc/$PPID/status" >\(directory.path(of: "memory"))
            """
        let start = ContinuousClock.now
        let result = try runProcess(
            [tool] + SurveyFixture.arguments(["--json", "--timeout=300"].filter { $0 == "--json" }, script),
            timeout: 900)
        #expect(result.status == 0, "\(result.errorOutput)")
        let hosts = try #require(try JSONDocument(result.stdout).root["hosts"]?.elements.map { Array($0) })
        #expect(hosts.count == 500 && hosts.allSatisfy { $0["answer"]?.string == "unpinned" })
        #expect(start.duration(to: .now) < .seconds(600))
        let words = String(decoding: try directory.read("memory"), as: UTF8.self).split(separator: " ")
        #expect(words.count > 1 && (Int(words[words.count - 2]) ?? .max) < 60_000, "\(words)")
    }
}
