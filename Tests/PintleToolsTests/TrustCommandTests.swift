import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleTools

@Suite("The store on the command line")
struct TrustCommandTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let certificate = "a22af0bd3efb837f120f697a6b64ca9df638a9104064bbb94280d3dffe95d7a9"
    private static let key = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path(of: "trust.json")
    }

    private func trust(_ arguments: String..., now: Date = Self.now) -> ToolRun {
        ToolRun(arguments: ["trust"] + arguments + ["--store", store], now: now)
    }

    @Test("The trust command lists, exports and revokes an approval")
    func story() throws {
        #expect(trust("list").output == "no approvals in \(store)\n")
        #expect(trust("list").errors == "there is no such file yet\n")
        let approved = trust(
            "approve", "NAS.home.arpa", "--certificate", Self.certificate, "--note", "from its display")
        #expect(approved.code == 0)
        #expect(approved.output == "approved   nas.home.arpa:443   certificate \(Self.certificate)\n")
        let other = trust("approve", "[2001:db8::7]:8443", "--key", Self.key, "--expires", "2027-02-01T00:00:00Z")
        #expect(other.output == "approved   [2001:db8::7]:8443   key \(Self.key)\n")
        #expect(
            trust("list").output == """
                2 approvals in \(store)

                [2001:db8::7]:8443   live
                  key       \(Self.key)
                  accepts   self-signed, untrusted-root
                  approved  2027-01-15
                  ends      2027-02-01, 16 days left

                nas.home.arpa:443   live
                  cert      \(Self.certificate)
                  accepts   self-signed, untrusted-root
                  approved  2027-01-15
                  note      from its display

                """)
        #expect(
            trust("revoke", "nas.home.arpa:443").output
                == "revoked   nas.home.arpa:443   certificate \(Self.certificate)\n")
        #expect(trust("list").errors.isEmpty)
        let later = trust("list", now: Self.now + 20 * 86_400).output
        #expect(later.contains("\n[2001:db8::7]:8443   expired\n"))
        #expect(later.contains("\n  ended     2027-02-01, 3 days ago\n"))
        #expect(later.contains("\nnas.home.arpa:443   revoked\n"))
        #expect(later.contains("\n  revoked   2027-01-15\n"))
        // The export is a valid store.
        let exported = trust("export")
        #expect(exported.code == 0)
        #expect(try TrustApprovals(json: Array(exported.output.utf8)).count == 2)
        #expect(Array(exported.output.utf8) == (try directory.read("trust.json")))
    }

    @Test("approve accepts another name or a past date only with --accept, and names the failures that are not covered")
    func exceptions() throws {
        let plain = trust("approve", "nas.test", "--certificate", Self.certificate, "--json")
        #expect(try plain.json()["accepts"]?.elements?.compactMap(\.string) == ["self-signed", "untrusted-root"])
        #expect(plain.errors.contains("it does not cover a certificate that is not for nas.test, or that has expired"))
        let named = trust(
            "approve", "nas.test", "--certificate", Self.certificate, "--accept", "name-mismatch", "--accept",
            "expired",
            "--json")
        #expect(
            try named.json()["accepts"]?.elements?.compactMap(\.string)
                == ["self-signed", "untrusted-root", "name-mismatch", "expired"])
        #expect(named.errors.isEmpty)
        let key = trust("approve", "key.test", "--key", Self.key, "--accept", "expired")
        #expect(key.code == 2)
        #expect(key.errors.contains("only an approval of the exact certificate accepts expired"))
        #expect(trust("approve", "nas.test", "--certificate", Self.certificate, "--accept", "weak-key").code == 2)
    }

    @Test("The JSON is one document, with full dates and without absent members")
    func json() throws {
        let approved = trust("approve", "nas.test:8443", "--key", Self.key, "--json")
        #expect(
            ToolRun.keys(try approved.json()) == ["host", "port", "state", "spki", "accepts", "approvedAt"])
        #expect(try approved.json()["approvedAt"]?.string == "2027-01-15T08:00:00Z")
        let list = try trust("list", "--json").json()
        #expect(ToolRun.keys(list) == ["store", "generation", "record", "approvals"])
        #expect(list["record"]?.string == "complete")
        #expect(list["approvals"]?.elements?.map { $0["port"]?.integer } == [8443])
        let revoked = try trust("revoke", "nas.test:8443", "--json").json()
        #expect(revoked["state"]?.string == "revoked")
        #expect(revoked["revokedAt"]?.string == "2027-01-15T08:00:00Z")
        let nothing = trust("revoke", "nas.test:8443", "--json")
        #expect(nothing.code == 1)
        #expect(try nothing.json()["error"]?["code"]?.string == "not-approved")
    }

    @Test("Another certificate is refused until the first is revoked; the same one renews its approval")
    func otherwise() throws {
        #expect(trust("approve", "nas.test", "--certificate", Self.certificate).code == 0)
        let other = trust("approve", "nas.test", "--key", Self.key)
        #expect(other.code == 1)
        #expect(other.errors.contains("another certificate is approved for nas.test:443"))
        #expect(other.errors.contains("pintle trust revoke nas.test:443"))
        #expect(trust("approve", "nas.test", "--certificate", Self.certificate, "--note", "again").code == 0)
        #expect(trust("list").output.contains("note      again"))
        // Another port is another server.
        #expect(trust("approve", "nas.test:8443", "--key", Self.key).code == 0)
        #expect(trust("revoke", "nas.test").code == 0)
        #expect(trust("approve", "nas.test", "--key", Self.key).code == 0)
    }

    static let mistakes: [([String], String, String)] = [
        (["approve", "nas.test"], "missing-option", "--certificate HEX or --key PIN"),
        (
            ["approve", "nas.test", "--certificate", certificate, "--key", key], "usage",
            "--key does not go with --certificate"
        ),
        (["approve", "--key", key], "missing-argument", "HOST is missing"),
        (["approve", "nas.test", "--key", certificate], "invalid-pin", "fingerprint of a certificate"),
        (["approve", "nas.test", "--certificate", key], "invalid-pin", "not a fingerprint"),
        (["approve", "nas.test", "--key", key, "--expires", "tomorrow"], "invalid-date", "--expires"),
        (["approve", "nas.test", "--key", key, "--expires", "2020-01-01T00:00:00Z"], "already-expired", "expired"),
        (
            ["approve", "nas.test", "--key", key, "--note", String(repeating: "x", count: 1_001)], "note-too-long",
            "1001"
        ),
        (["approve", "na s.test", "--key", key], "invalid-host", ""), (["revoke"], "missing-argument", "HOST"),
        (["revoke", "nas.test", "--note", "x"], "usage", "--note does not go with revoke: it is for approve"),
        (["list", "nas.test"], "usage", "one argument too many"), (["lisst"], "usage", "did you mean list?"),
    ]

    @Test("A contradictory command line changes nothing", arguments: mistakes)
    func usage(_ arguments: [String], _ code: String, _ message: String) throws {
        let run = ToolRun(arguments: ["trust"] + arguments + ["--store", store, "--json"], now: Self.now)
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["code"]?.string == code)
        #expect(try run.json()["error"]?["message"]?.string?.contains(message) == true)
        #expect(access(store, F_OK) != 0)
    }

    @Test("--store is required, and the error about an unusable store names it")
    func stores() throws {
        #expect(ToolRun("trust", "list").code == 2)
        #expect(ToolRun("trust", "list", "--store", "-").code == 2)
        #expect(ToolRun("trust", "list", "--store", directory.path).code == 2)
        try directory.write(#"{"version": 2}"#, to: "later.json")
        let later = ToolRun("trust", "list", "--store", directory.path(of: "later.json"), "--json")
        #expect(later.code == 2)
        #expect(try later.json()["error"]?["code"]?.string == "unsupported-version")
        #expect(try later.json()["error"]?["file"]?.string == directory.path(of: "later.json"))
        #expect(trust("list").code == 0)
    }

    @Test("A damaged store approves no server; list leaves it unchanged, and a change moves it aside")
    func damaged() throws {
        #expect(trust("approve", "nas.test", "--key", Self.key).code == 0)
        let whole = try directory.read("trust.json")
        let damaged = Array(whole.dropLast(20))
        try directory.write(damaged, to: "trust.json")
        for action in ["list", "export"] {
            let run = trust(action)
            #expect(run.code == 2 && run.output.isEmpty)
            #expect(run.errors.contains("pintle: error: \(store):"))
            #expect(run.errors.contains("the store is damaged: "))
            #expect(run.errors.contains("hint: repair it, or set it aside: mv \(store) \(store).old\n"))
            let document = ToolRun("trust", action, "--store", store, "--json")
            #expect(try document.json()["error"]?["code"]?.string == "damaged-store")
            #expect(try directory.read("trust.json") == damaged)
        }
        // The approval succeeds, but exit code 1 and a message say that the earlier ones are lost.
        let change = trust("approve", "b.test", "--key", Self.key)
        #expect(change.code == 1)
        #expect(change.output.hasPrefix("approved   b.test:443"))
        #expect(change.errors.contains("it is now \(store).corrupt, and nothing that it says counts"))
        #expect(try directory.read("trust.json.corrupt") == damaged)
        let list = trust("list")
        #expect(list.code == 0 && list.output.hasPrefix("1 approval in"))
        #expect(list.errors.contains("approvals were lost: \(store).corrupt is what is left of a damaged store"))
        #expect(try ToolRun("trust", "list", "--store", store, "--json").json()["record"]?.string == "lost")
        #expect(trust("revoke", "b.test").code == 0)
        #expect(unlink("\(store).corrupt") == 0)
        #expect(trust("list").errors.isEmpty)
        // A revocation in an unreadable store leaves no server approved.
        try directory.write(damaged, to: "trust.json")
        #expect(trust("revoke", "nas.test").code == 1)
        #expect(try directory.read("trust.json.corrupt") == damaged)
    }

    @Test("The error about an incomplete record says if the record is damaged or lost")
    func incompleteRecord() {
        let unreadable = ToolError(.incompleteRecord(.unreadable), store: "trust.json")
        #expect(unreadable.code == "incomplete-record")
        #expect(
            unreadable.message
                == "earlier approvals cannot be read, so this server may have been known with another certificate")
        #expect(
            unreadable.hint == "nothing was stored: repair trust.json, or set it aside: mv trust.json trust.json.old")
        let lost = ToolError(.incompleteRecord(.lost), store: "trust.json")
        #expect(
            lost.message == "earlier approvals are lost, so this server may have been known with another certificate")
        #expect(lost.hint == "nothing was stored: look into trust.json.corrupt, then move that away")
    }

    @Test("A file that was never a store is refused and left unchanged")
    func notAStore() throws {
        let policy = #"{"version": 1, "hosts": []}"#
        try directory.write(policy, to: "trust.json")
        for words in [["list"], ["export"], ["approve", "nas.test", "--key", Self.key], ["revoke", "nas.test"]] {
            let run = ToolRun(arguments: ["trust"] + words + ["--store", store, "--json"])
            #expect(run.code == 2, "\(words)")
            #expect(try run.json()["error"]?["hint"]?.string?.contains("mv \(store) \(store).old") == true)
            #expect(try run.json()["error"]?["code"]?.string == "not-a-store")
        }
        #expect(try directory.read("trust.json") == Array(policy.utf8))
    }

    @Test("A note from a file cannot control the terminal")
    func hostileNote() throws {
        #expect(trust("approve", "nas.test", "--key", Self.key, "--note", "a\u{1B}[2J\u{202E}\nb").code == 0)
        let run = trust("list")
        #expect(run.output.unicodeScalars.allSatisfy { !$0.isUnsafeToPrint || $0 == "\n" })
        #expect(run.output.contains("note      a\\u{1B}[2J\\u{202E}\\u{A}b\n"))
    }

    @Test("Completion and help list the actions")
    func completion() throws {
        for shell in ["bash", "zsh", "fish"] {
            let script = ToolRun("--generate-completion-script", shell).output
            #expect(script.contains("list approve revoke export"), "\(shell)")
            let syntax = try runProcess(
                ["/bin/sh", "-c", "command -v $0 >/dev/null || exit 127; exec $0 -n", shell], input: Array(script.utf8))
            #expect(syntax.status == 0 || syntax.status == 127, "\(shell): \(syntax.errorOutput)")
        }
        #expect(ToolRun("help", "trust").output.contains("(values: list, approve,"))
    }
}

@Suite(
    "The store between processes",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct TrustProcessTests {
    @Test("Two processes that approve at once lose no approval")
    func atOnce() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path(of: "trust.json")
        let tool = try #require(SpawnedTool.path)
        let key = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
        let script = #"""
            for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
                "$0" trust approve "$1$number.test" --key "$2" --store "$3" || exit 1
            done
            """#
        let children = try ["a", "b", "c"].map { name in
            try ChildProcess(["/bin/sh", "-c", script, tool, name, key, store])
        }
        var status: [Int32] = []
        // This limit only detects a hang.
        for child in children {
            for _ in 0..<12_000 where child.status == nil { usleep(10_000) }
            status.append(child.status ?? -1)
        }
        #expect(status == [0, 0, 0])
        #expect(try TrustApprovals(json: directory.read("trust.json")).count == 45)
    }

    @Test("The tool asks on a terminal and takes the answer")
    func asks() throws {
        let directory = try TemporaryDirectory()
        let home = try Identity.selfSigned(hosts: ["nas.test"])
        let server = try LoopbackTLSServer(home)
        let policy = try directory.write(#"{"version": 1, "unpinnedHosts": "askUser", "hosts": []}"#, to: "policy.json")
        let store = directory.path(of: "trust.json")
        let screen = directory.path(of: "screen")
        let line = [
            try #require(SpawnedTool.path), "check", "nas.test", "--policy", policy, "--store", store, "--ask",
            "--connect-to", "127.0.0.1:\(server.port)",
        ].joined(separator: " ")
        // The script types the answer when the question is on the screen. The limit only detects a hang.
        let typing = #"""
            typed() {
                for turn in $(seq 600); do
                    grep -q "paste the fingerprint" "$1" 2>/dev/null && break
                    sleep 0.1
                done
                echo yes
            }
            typed "$1" | script -qefc "$0" "$1"
            """#
        let script = try runProcess(["/bin/sh", "-c", typing, line, screen], timeout: 120)
        #expect(script.output.contains("Trust this certificate for nas.test:443?"))
        #expect(script.status == 0, "\(script.output)")
        #expect(try TrustApprovals(json: directory.read("trust.json")).count == 1)
    }
}
