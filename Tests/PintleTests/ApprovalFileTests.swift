import Testing

@testable import Pintle
@testable import PintlePolicyFile

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Approvals files")
struct ApprovalFileTests {
    private static let now = DecisionFixture.now
    private static let pin = String(repeating: "ab", count: 32)

    private static func approval(_ more: String = "", host: String = "\"nas.example\"", port: String = "443") -> String
    {
        """
        {"host": \(host), "port": \(port), "certificate": "\(pin)", "accepts": ["self-signed"], \
        "approvedAt": "2026-11-20T10:00:00Z"\(more)}
        """
    }

    private static func file(_ approvals: String..., version: String = "1", generation: String = "7") -> String {
        "{\"version\": \(version), \"generation\": \(generation), \"approvals\": [\(approvals.joined(separator: ", "))]}"
    }

    /// Returns the error, or `nil` if the file is valid.
    private static func refusal(_ text: String) -> ApprovalFileError? {
        do throws(ApprovalFileError) {
            _ = try TrustApprovals(json: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("A stored approval of a key cannot accept a wrong name or a past date; one of a certificate can")
    func exceptions() throws {
        func file(_ subject: String) -> [UInt8] {
            Array(
                """
                {"version": 1, "generation": 1, "approvals": [{"host": "a.example", "port": 443, \(subject),
                 "accepts": ["self-signed", "name-mismatch", "expired"], "approvedAt": "2026-11-20T10:00:00Z"}]}
                """.utf8)
        }
        let certificate = String(repeating: "ab", count: 32)
        let read = try TrustApprovals(json: file("\"certificate\": \"\(certificate)\""))
        #expect(read.all.map(\.accepts) == [[.selfSigned, .nameMismatch, .expired]])
        let pin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA="
        let error = #expect(throws: ApprovalFileError.self) { try TrustApprovals(json: file("\"spki\": \"\(pin)\"")) }
        #expect(error?.id == "unacceptable-failure")
    }

    @Test("A written file reads back as equal approvals, with one spelling")
    func roundTrip() throws {
        let hosts = ["nas.example", "192.0.2.1", "2001:db8::1", "nas.example"]
        var approvals = TrustApprovals(revision: 41)
        for (number, host) in hosts.enumerated() {
            let chain = TestChain(number)
            approvals.replace(
                try TrustApproval(
                    number % 2 == 0 ? chain.keyPin(0).subject : chain.certificatePin(0).subject,
                    for: ServerEndpoint(host: ServerName(host), port: UInt16(443 + number)),
                    accepting: number == 1 ? [] : [.untrustedRoot], at: Self.now + 0.7,
                    until: number == 2 ? Self.now + 99.9 : nil, note: number == 3 ? "a\u{202E}\n\"b\"" : nil))
        }
        approvals.revoke(ServerEndpoint(host: try ServerName("nas.example"), port: 446), at: Self.now + 5.5)
        #expect(approvals.revision == 46)
        let json = approvals.json()
        #expect(try TrustApprovals(json: json) == approvals)
        #expect(try TrustApprovals(json: json).json() == json)
        #expect(TrustApprovals(approvals.all.reversed(), revision: 46).json() == json)
        #expect(try TrustApprovals(json: TrustApprovals.none.json()) == .none)
    }

    @Test("The example of the documentation is valid")
    func example() throws {
        let approvals = try TrustApprovals(json: Array(Self.file(Self.approval()).utf8))
        #expect(approvals.revision == 7 && approvals.count == 1)
        let approval = try #require(approvals.all.first)
        #expect(approval.endpoint.description == "nas.example:443")
        #expect(approval.accepts == [.selfSigned])
        #expect(approval.subject == .certificate(try CertificatePin(Self.pin)))
    }

    @Test(
        "Every mistake is refused with its id, and the file without it is valid",
        arguments: [
            (file(approval(), version: "2"), "unsupported-version"), (file(approval(), version: "\"1\""), "wrong-type"),
            ("{\"version\": 9, \"anything\": []}", "unsupported-version"), ("[]", "missing-key"),
            ("", "empty-document"),
            ("{\"version\": 1, \"approvals\": []}", "missing-key"), (file(generation: "-1"), "invalid-generation"),
            ("{\"version\": 1, \"generation\": 0, \"approvals\": {}}", "wrong-type"), (file("7"), "wrong-type"),
            (file(approval()) + "x", "trailing-content"), ("\u{FEFF}" + file(), "byte-order-mark"),
            (file(approval(", \"trust\": true")), "unknown-key"),
            (file(approval(", \"host\": \"b\"")), "duplicate-key"),
            (file(approval(), approval(host: "\"NAS.example\"")), "duplicate-approval"),
            (file(approval(host: "\"*.example\"")), "invalid-host"), (file(approval(host: "7")), "wrong-type"),
            (file(approval(port: "0")), "invalid-port"), (file(approval(port: "65536")), "invalid-port"),
            (file(approval(port: "\"443\"")), "invalid-port"),
            (file(approval(", \"spki\": \"\(pin)\"")), "invalid-pin"),
            (file(approval().replacingText(pin, with: "ab")), "wrong-pin-length"),
            (file(approval().replacingText("certificate", with: "spki")), "invalid-pin"),
            (file(approval().replacingText("self-signed", with: "weak-key")), "unacceptable-failure"),
            (file(approval().replacingText("[\"self-signed\"]", with: "true")), "wrong-type"),
            (file(approval().replacingText("00Z", with: "00Zjunk")), "invalid-date"),
            (file(approval(", \"expiresAt\": \"2027-02-30T00:00:00Z\"")), "invalid-date"),
            (file(approval(", \"expiresAt\": null")), "wrong-type"),
            (file(approval(", \"revokedAt\": 1")), "wrong-type"),
            (file(approval(", \"note\": \"\(String(repeating: "x", count: 1_001))\"")), "note-too-long"),
            (file(approval().replacingText("\"port\": 443, ", with: "")), "missing-key"),
        ] as [(String, String)])
    func mistakes(_ text: String, _ id: String) {
        let error = Self.refusal(text)
        #expect(error?.id == id)
        #expect(error?.isUnsupportedVersion == (id == "unsupported-version"))
        #expect(Self.refusal(Self.file(Self.approval())) == nil)
        let whole =
            ", \"expiresAt\": \"2027-02-28T00:00:00+01:00\", \"revokedAt\": \"2026-11-21T00:00:00Z\", \"note\": \"x\""
        #expect(Self.refusal(Self.file(Self.approval(whole), Self.approval(port: "444"))) == nil)
    }

    @Test("An error gives its position, and its message cannot control a terminal")
    func place() throws {
        let text = Self.file(Self.approval(host: "\"a\\u001b[2J\"")).replacingText(", ", with: ",\n")
        let error = try #require(Self.refusal(text))
        #expect(error.id == "invalid-host" && error.line == 3 && error.column == 24)
        let shown = "\(error)"
        #expect(!shown.unicodeScalars.contains { $0.isUnsafeToPrint })
    }

    @Test("A file above the size limit is refused without reading it")
    func size() {
        let filler = String(repeating: " ", count: TrustApprovals.maximumFileSize - Self.file().utf8.count)
        #expect(Self.refusal(Self.file() + filler) == nil)
        #expect(Self.refusal(Self.file() + filler + " ")?.id == "too-large")
    }
}
