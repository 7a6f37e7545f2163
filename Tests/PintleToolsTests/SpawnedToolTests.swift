import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// The built tool in a separate process, with the variables of the environment that it must use or ignore.
@Suite(
    "The tool in its environment",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct SpawnedToolTests {
    private let directory: TemporaryDirectory
    private let root: PintleTestKit.CertificateAuthority
    private let identity: Identity
    /// The end of the leaf's validity.
    private let end: Date

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Minted Root")
        // The end is so near that a wrong time zone would change the verdict.
        let end = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 3_600).rounded(.down))
        self.end = end
        identity = try root.intermediate().issue(hosts: ["example.test"]) { $0.notAfter = .date(end) }
    }

    private func line(_ identity: Identity? = nil, anchors: Bool, more: String = "") -> String {
        let chain = (identity ?? self.identity).chain.map { JSONWriter.quoted(PEM.encode($0)) }
        let anchors = anchors ? ", \"anchors\": [\(JSONWriter.quoted(root.certificate.pem))]" : ""
        return "{\"id\": 1, \"host\": \"example.test\", \"chain\": [\(chain.joined(separator: ","))]\(anchors)\(more)}"
    }

    /// Returns the verdicts on these lines: `trusted host-not-pinned`, `rejected invalid-path expired`...
    private func verdicts(_ lines: [String], environment: [String: String]) throws -> [String] {
        let result = try SpawnedTool.run(
            ["evaluate", "--batch"], input: lines.joined(separator: "\n"), environment: environment)
        #expect(result.status == 0, "\(result.errorOutput)")
        return try result.output.split(separator: "\n").map { line in
            let answer = try JSONDocument(Array(line.utf8)).root
            return ["decision", "reason", "pathFailure"].compactMap { answer[$0]?.string }.joined(separator: " ")
        }
    }

    private static let trusted = ["trusted host-not-pinned"]
    private static let untrusted = ["rejected invalid-path untrusted-root"]

    @Test("SSL_CERT_FILE names the system's roots, and with another root in it the server is not trusted")
    func certificateFile() throws {
        let lines = [line(anchors: false)]
        let stranger = try CertificateAuthority.root(name: "Stranger")
        let ours = try directory.write(root.certificate.pem, to: "ours.pem")
        let others = try directory.write(stranger.certificate.pem, to: "others.pem")
        let nowhere = directory.path(of: "nowhere")
        #expect(try verdicts(lines, environment: ["SSL_CERT_FILE": ours, "SSL_CERT_DIR": nowhere]) == Self.trusted)
        #expect(try verdicts(lines, environment: ["SSL_CERT_FILE": others, "SSL_CERT_DIR": nowhere]) == Self.untrusted)
        #expect(try verdicts(lines, environment: [:]) == Self.untrusted)
        // Anchors in the case replace the system's roots.
        let without = ["SSL_CERT_FILE": others, "SSL_CERT_DIR": nowhere]
        #expect(try verdicts([line(anchors: true)], environment: without) == Self.trusted)
    }

    @Test("SSL_CERT_DIR names the system's roots by the hash of the subject")
    func certificateDirectory() throws {
        let lines = [line(anchors: false)]
        let pem = root.certificate.pem
        let hash = try runProcess(["openssl", "x509", "-noout", "-hash"], input: Array(pem.utf8)).output
        let name = String(hash.filter { !$0.isWhitespace })
        #expect(name.count == 8)
        try directory.write(pem, to: "ours/\(name).0")
        try directory.write(pem, to: "misnamed/root.pem")
        let nowhere = directory.path(of: "nowhere")
        for (folder, expected) in [("ours", Self.trusted), ("misnamed", Self.untrusted)] {
            let environment = ["SSL_CERT_DIR": directory.path(of: folder), "SSL_CERT_FILE": nowhere]
            #expect(try verdicts(lines, environment: environment) == expected)
        }
    }

    private static let places: [[String: String]] = [
        ["TZ": "UTC", "LC_ALL": "C"], ["TZ": "Asia/Kathmandu", "LC_ALL": "ne_NP.UTF-8"],
        ["TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"], ["TZ": "Pacific/Kiritimati", "LC_ALL": "th_TH.UTF-8"],
        ["TZ": "<-12>12", "LC_ALL": "fa_IR.UTF-8", "LANGUAGE": "fa"], ["TZ": "no/such/zone", "LC_ALL": "C.UTF-8"],
    ]

    @Test("The time zone and locale do not change an expiry", arguments: places)
    func timeZone(_ place: [String: String]) throws {
        let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)
        func policy(until text: String) -> String {
            """
            , "policy": {"version": 1, "hosts": [{"host": "example.test", "pins": ["\(pin)"], "backupPins": \
            "none-accepted", "expiry": {"after": "\(text)", "then": "reject"}}]}
            """
        }
        let instants = ["2027-01-15T08:00:00Z", "2027-01-15T07:59:59Z", "2027-01-15T13:45:00+05:45"]
        let past = try root.issue(hosts: ["example.test"]) { $0.notAfter = .fromNow(seconds: -600) }
        let future = try root.issue(hosts: ["example.test"]) { $0.notBefore = .fromNow(seconds: 3_000) }
        let long = try root.issue(hosts: ["example.test"]) { $0.notAfter = .fromNow(days: 3_650) }
        let answers = try verdicts(
            [
                line(anchors: true), line(past, anchors: true), line(future, anchors: true),
                line(anchors: true, more: ", \"at\": \"\(RFC3339.string(from: end))\""),
                line(anchors: true, more: ", \"at\": \"\(RFC3339.string(from: end + 1))\""),
            ] + instants.map { line(long, anchors: true, more: ", \"at\": \"\($0)\"\(policy(until: instants[0]))") },
            environment: place)
        // The policy pins another key than that of the long-lived leaf, so the pins mismatch until they expire.
        #expect(
            answers == [
                "trusted host-not-pinned", "rejected invalid-path expired", "rejected invalid-path not-yet-valid",
                "trusted host-not-pinned", "rejected invalid-path expired", "rejected pins-expired",
                "rejected pin-mismatch", "rejected pins-expired",
            ])
    }

    @Test("The tool prints dates the same way in every locale", arguments: places.dropFirst())
    func dates(_ place: [String: String]) throws {
        let file = try directory.write(identity.certificate.pem, to: "leaf.pem")
        for arguments in [["inspect", file], ["pin", file, "--json"]] {
            let here = try SpawnedTool.run(arguments, environment: place)
            let home = try SpawnedTool.run(arguments, environment: Self.places[0])
            #expect(here.status == 0 && home.status == 0)
            // The output may differ only in characters that ASCII does not have.
            #expect(here.output.filter(\.isASCII) == home.output.filter(\.isASCII))
            #expect(here.output.contains(RFC3339.string(from: end).prefix(10)))
        }
    }
}

/// The program that `$PINTLE_TOOL` names.
enum SpawnedTool {
    static let path: String? = {
        guard let variable = getenv("PINTLE_TOOL") else { return nil }
        let path = String(cString: variable)
        return access(path, X_OK) == 0 ? path : nil
    }()

    static func run(
        _ arguments: [String], input: String = "", environment: [String: String]
    ) throws -> ProcessResult {
        try runProcess([try #require(path)] + arguments, input: Array(input.utf8), environment: environment)
    }
}
