import Pintle
import PintleTestKit
import Testing

/// Attacks as kits make them: for each a real client that falls for it, and one that does not.
@Suite("Rehearsal: attack kits")
struct RehearseKitTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Returns the outcomes of a client written in Python. It gets the URL, the file of anchors and a file of its own.
    private func outcomes(_ attacks: String, python script: String, timeout: String = "30") throws -> [String: String] {
        let client = try directory.write(Self.prologue + script, to: "client.py")
        try directory.write("", to: "memory")
        let run = ToolRun(
            arguments: ["rehearse", "--timeout", timeout, "--json", "--only", attacks, "--", "python3", client]
                + ["{url}", "{ca}", directory.path(of: "memory")])
        return try RehearseTests.outcomes(run)
    }

    private func outcomes(_ options: [String], _ client: String...) throws -> [String: String] {
        try RehearseTests.outcomes(ToolRun(arguments: ["rehearse", "--json"] + options + ["--"] + client))
    }

    private static let prologue = """
        import hashlib, json, os, re, socket, ssl, sys
        url, ca, memory = sys.argv[1:]
        port = int(re.search(r":(\\d+)/", url).group(1))
        context = ssl.create_default_context(cafile=ca)
        def connect():
            return context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
        def ask(stream):
            stream.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            stream.recv(100)
        def remember(value):
            if os.path.getsize(memory) == 0: open(memory, "w").write(value)
            if open(memory).read() != value: sys.exit(1)

        """

    @Test("A client that remembers names, dates and the serial number takes the copied certificate for the right one")
    func copiedFields() throws {
        let fields = try outcomes(
            "copied-certificate,trusted-interceptor",
            python: """
                stream = connect()
                remember(json.dumps({k: v for k, v in stream.getpeercert().items() if k != "issuer"}))
                ask(stream)
                """)
        #expect(fields["copied-certificate"] == "let-through")
        // Another certificate of the same interceptor has another serial number.
        #expect(fields["trusted-interceptor"] == "blocked")
        let issuer = try outcomes(
            "copied-certificate", python: "stream = connect(); remember(json.dumps(stream.getpeercert())); ask(stream)")
        #expect(issuer["copied-certificate"] == "let-through", "the issuer's name is copied too")
    }

    @Test("A client that remembers the certificate's hash refuses the copied certificate")
    func copiedHash() throws {
        let hash = try outcomes(
            "copied-certificate",
            python: """
                stream = connect()
                remember(hashlib.sha256(stream.getpeercert(True)).hexdigest())
                ask(stream)
                """)
        #expect(hash["copied-certificate"] == "blocked")
        #expect(hash["control"] == "accepted")
    }

    @Test("A limit on the validity stops a leaf for ten years and no other interceptor")
    func tenYears() throws {
        let limited = try outcomes(
            "ten-year-leaf,trusted-interceptor",
            python: """
                stream = connect()
                dates = [ssl.cert_time_to_seconds(stream.getpeercert()[key]) for key in ("notBefore", "notAfter")]
                if dates[1] - dates[0] > 825 * 86400: sys.exit(1)
                ask(stream)
                """)
        #expect(limited["ten-year-leaf"] == "blocked")
        #expect(limited["trusted-interceptor"] == "let-through")
        let unlimited = try outcomes("ten-year-leaf", python: "ask(connect())")
        #expect(unlimited["ten-year-leaf"] == "let-through")
    }

    @Test("OpenSSL refuses an authority with explicit curve parameters, and a client without validation accepts it")
    func explicitParameters() throws {
        let only = ["--timeout", "30", "--only", "explicit-ec-parameters"]
        let validating = try outcomes(only, "curl", "-sS", "-m", "12", "--cacert", "{ca}", "{url}")
        #expect(validating["explicit-ec-parameters"] == "blocked")
        #expect(validating["control"] == "accepted")
        let blind = try outcomes(only, "curl", "-sS", "-m", "12", "-k", "{url}")
        #expect(blind["explicit-ec-parameters"] == "let-through")
    }

    @Test("A client that compares each name with each constraint is held, unless it limits the comparisons")
    func constraintBomb() throws {
        // A validator of its own, as a client might have without a library.
        let validator = """
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            stream = connect()
            def names(certificate):
                der = certificate.public_bytes(2) if hasattr(certificate, "public_bytes") else certificate
                found = re.findall(rb"\\x82[\\x03-\\x20]([a-z0-9.]+)", der)
                return [name.decode().split(".") for name in found]
            object = getattr(stream, "_sslobj", stream)
            leaf, issuer = [names(certificate) for certificate in object.get_unverified_chain()[:2]]
            if LIMIT and len(leaf) * len(issuer) > LIMIT: sys.exit(1)
            # Many times, because one time can be shorter than the limit on a fast machine.
            for base in issuer * 50:
                for name in leaf:
                    if name[-len(base):] == base: sys.exit(1)
            ask(stream)
            """
        let bomb = "name-constraint-bomb"
        let careless = try outcomes(bomb, python: validator.replacing("LIMIT", with: "0"), timeout: "2")
        #expect(careless[bomb] == "held")
        #expect(careless["control"] == "accepted")
        #expect(try outcomes(bomb, python: validator.replacing("LIMIT", with: "250000"))[bomb] == "ended")
        let only = ["--timeout", "30", "--only", bomb]
        #expect(try outcomes(only, "curl", "-sS", "-m", "12", "--cacert", "{ca}", "{url}")[bomb] == "ended")
    }

    @Test("An endless response holds a client with a time limit for each read only")
    func stackedEncodings() throws {
        let stack = "stacked-encodings"
        let held = ToolRun(
            arguments: ["rehearse", "--timeout", "4", "--only", stack, "--"]
                + ["wget", "-q", "-O", "/dev/null", "-T", "2", "-t", "1", "--ca-certificate={ca}", "{url}"])
        #expect(held.code == 1)
        #expect(held.output.contains("\n  stacked-encodings             ended     HELD"), "\(held.output)")
        #expect(held.output.contains(": 0 as they must be, 1 HELD, 38 not chosen\n"))
        #expect(held.output.contains("next: 1. does the client end by a time-out of its own?"))
        // A time limit for all of it ends the client, and so does a limit of layers.
        for option in [["-m", "2"], ["--compressed"]] {
            let ended = ToolRun(
                arguments: RehearseTests.rehearse + ["--only", stack, "--", "curl", "-sS", "--cacert", "{ca}"] + option
                    + ["-o", "/dev/null", "{url}"])
            #expect(ended.code == 0, "\(ended.output) \(ended.errors)")
            #expect(ended.output.contains("1 attack in "))
        }
    }

    @Test("A client that never ends or sends no request is not judged by whether it ends")
    func notJudged() throws {
        let endless = try outcomes(
            ["--timeout", "3", "--only", "name-constraint-bomb,expired"], "sh", "-c", "\"$@\"; sleep 600", "sh", "curl",
            "-sS", "--cacert", "{ca}", "{url}")
        #expect(endless["name-constraint-bomb"] == "not-run")
        #expect(endless["expired"] == "blocked")
        let silent = try outcomes(
            ["--timeout", "30", "--only", "name-constraint-bomb,stacked-encodings"], "openssl", "s_client", "-connect",
            "{host}:{port}", "-CAfile", "{ca}", "-verify_return_error")
        #expect(silent["stacked-encodings"] == "not-run")
        #expect(silent["name-constraint-bomb"] == "ended")
    }
}
