import Testing

@testable import Pintle
@testable import PintlePolicyFile

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests files that an earlier revision wrote, byte for byte. Renaming Swift symbols must not change the formats.
@Suite("Files of an earlier revision")
struct FormerFilesTests {
    private static var policy: String {
        """
        {
          "version": 1,
          "updateVersion": 7,
          "unpinnedHosts": "askUser",
          "updates": {
            "anyHost": true
          },
          "hosts": [
            {
              "host": "api.example.com",
              "port": 8443,
              "includeSubdomains": true,
              "pins": [
                "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=",
                {
                  "spki": "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI=",
                  "at": "ca"
                },
                {
                  "certificate": "cc751c67698229d9277c61d1a6d811ad2af2c0959a0486f5d5f38ece3e4ae2cf",
                  "at": "leaf"
                }
              ],
              "backupPins": [
                "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="
              ],
              "expiry": {
                "after": "2027-11-20T00:00:00Z",
                "then": "reject"
              },
              "enforcement": "reportOnly",
              "anchors": {
                "include": [
                  \(JSONWriter.quoted(pem))
                ],
                "system": true
              },
              "reportTo": [
                "https://reports.example.net/pins"
              ],
              "withdraws": "the key was stolen"
            },
            {
              "host": "192.0.2.1",
              "pins": [
                "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
              ],
              "backupPins": "none-accepted"
            },
            {
              "host": "both.example.com",
              "pins": [
                {
                  "spki": "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=",
                  "at": "leaf"
                },
                {
                  "spki": "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI=",
                  "at": "ca"
                }
              ],
              "backupPins": "none-accepted",
              "requires": "leafAndCA"
            }
          ]
        }

        """
    }

    private static var pem: String { PEMBlock.text(label: "CERTIFICATE", bytes: MinimalCertificate.der()) }

    @Test("A former policy file parses as the same rules and writes the same bytes")
    func policyFile() throws {
        let bytes = Array(Self.policy.utf8)
        let policy = try PinningPolicy(json: bytes)
        #expect(policy.updateVersion == 7 && policy.unpinnedHosts == .askUser && policy.allowsUpdatesForAnyHost)
        try #require(policy.hosts.count == 3)
        var first = try PinnedHost(
            "api.example.com", port: 8443, includingSubdomains: true,
            pins: [
                PolicyText.pin, .publicKey(PolicyText.third, at: .ca),
                .certificate(PolicyText.fingerprint, at: .leaf),
            ],
            backupPins: [PolicyText.backup],
            expiry: .rejecting(after: try RFC3339.date(from: "2027-11-20T00:00:00Z")), enforcement: .reportOnly,
            anchors: TrustAnchors([try Certificate(der: MinimalCertificate.der())], includesSystem: true),
            reportTo: ["https://reports.example.net/pins"])
        first.withdrawalReason = "the key was stolen"
        #expect(policy.hosts[0] == first)
        let second = try PinnedHost("192.0.2.1", pins: [PolicyText.pin], backup: .noneAccepted)
        #expect(policy.hosts[1] == second)
        let third = try PinnedHost(
            "both.example.com",
            pins: [.publicKey(PolicyText.pin, at: .leaf), .publicKey(PolicyText.third, at: .ca)],
            backup: .noneAccepted, requires: .leafAndCA)
        #expect(policy.hosts[2] == third)
        #expect(policy.json() == bytes)
    }

    private static let approvals = """
        {
          "version": 1,
          "generation": 46,
          "approvals": [
            {
              "host": "192.0.2.1",
              "port": 444,
              "certificate": "cc751c67698229d9277c61d1a6d811ad2af2c0959a0486f5d5f38ece3e4ae2cf",
              "accepts": [
                "self-signed",
                "untrusted-root"
              ],
              "approvedAt": "2026-11-20T10:00:00Z",
              "expiresAt": "2027-11-20T10:00:00Z",
              "note": "the one in the cellar"
            },
            {
              "host": "nas.example",
              "port": 443,
              "spki": "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=",
              "accepts": [],
              "approvedAt": "2026-11-20T10:00:00Z",
              "revokedAt": "2026-11-21T10:00:00Z"
            }
          ]
        }

        """

    @Test("A former approvals file parses as the same approvals and writes the same bytes")
    func approvalFile() throws {
        let approvals = try TrustApprovals(json: Array(Self.approvals.utf8))
        #expect(approvals.revision == 46 && approvals.record == .complete)
        try #require(approvals.count == 2)
        let day = try RFC3339.date(from: "2026-11-20T10:00:00Z")
        let (first, second) = (approvals.all[0], approvals.all[1])
        #expect(first.endpoint.description == "192.0.2.1:444" && second.endpoint.description == "nas.example:443")
        #expect(first.subject == (try Pin.certificate(PolicyText.fingerprint).subject))
        #expect(second.subject == (try Pin.publicKey(PolicyText.pin).subject))
        #expect(first.accepts == [.selfSigned, .untrustedRoot] && second.accepts.isEmpty)
        #expect(first.approvedAt == day && second.approvedAt == day)
        #expect(first.expiresAt == (try RFC3339.date(from: "2027-11-20T10:00:00Z")) && second.expiresAt == nil)
        #expect(first.note == "the one in the cellar" && second.note == nil)
        #expect(first.revokedAt == nil && second.revokedAt == day + 86_400)
        #expect(approvals.json() == Array(Self.approvals.utf8))
    }
}
