import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Approvals")
struct TrustApprovalsTests {
    private static let now = DecisionFixture.now

    private static func approval(
        _ number: Int = 0, host: String = "nas.example", port: UInt16 = 443, until expiry: Date? = nil
    ) throws -> TrustApproval {
        try TrustApproval(
            TestChain(number).certificatePin(0).subject, for: ServerEndpoint(host: ServerName(host), port: port),
            at: now, until: expiry)
    }

    @Test("Each change increments the revision, and a call without effect does not")
    func generations() throws {
        let approval = try Self.approval()
        var approvals = TrustApprovals.none
        #expect(approvals.revision == 0)
        try approvals.approve(approval)
        #expect(approvals.revision == 1)
        approvals.revoke(try Self.approval(host: "other.example").endpoint, at: Self.now)
        #expect(approvals.revision == 1)
        #expect(approvals.revoke(approval.endpoint, at: Self.now)?.state(at: Self.now) == .revoked)
        #expect(approvals.revision == 2)
        #expect(approvals.revoke(approval.endpoint, at: Self.now) == nil)
        #expect(approvals.revision == 2)
    }

    @Test("Another certificate can be approved only after a revocation, even if the old approval has expired")
    func conflict() throws {
        for expiry in [nil, Self.now + 1] {
            var approvals = TrustApprovals([try Self.approval(until: expiry)])
            let error = #expect(throws: TrustApprovalError.self) { try approvals.approve(try Self.approval(1)) }
            #expect(error == .approvedOtherwise(try Self.approval(until: expiry)))
            #expect(approvals.revision == 0)
            // Approving the same certificate again renews the approval.
            try approvals.approve(try Self.approval(until: Self.now + 99))
            #expect(approvals.count == 1 && approvals.all[0].expiresAt == Self.now + 99)
            approvals.revoke(try Self.approval().endpoint, at: Self.now)
            try approvals.approve(try Self.approval(1))
            #expect(approvals.all == [try Self.approval(1)])
            // `replace` needs no revocation, because the user enters the new fingerprint.
            approvals.replace(try Self.approval(2))
            #expect(approvals.all == [try Self.approval(2)])
        }
    }

    @Test("The list is sorted by host and port")
    func order() throws {
        let hosts =
            [("b.example", 443), ("a.example", 8443), ("a.example", 443), ("192.0.2.1", 1)] as [(String, UInt16)]
        let approvals = TrustApprovals(try hosts.map { try Self.approval(host: $0.0, port: $0.1) })
        #expect(
            approvals.all.map(\.endpoint.description) == [
                "192.0.2.1:1", "a.example:443", "a.example:8443", "b.example:443",
            ])
    }

    /// An endpoint that counts how often it is compared.
    private struct Counted: Hashable {
        let endpoint: ServerEndpoint
        let comparisons: Counter

        // Safe, because only the thread that runs the test uses it.
        final class Counter: @unchecked Sendable {
            var value = 0
        }

        static func == (left: Counted, right: Counted) -> Bool {
            left.comparisons.value += 1
            return left.endpoint == right.endpoint
        }

        func hash(into hasher: inout Hasher) { hasher.combine(endpoint) }
    }

    @Test("A look-up among a thousand approvals takes as few comparisons as among ten", arguments: [10, 1_000])
    func constantTime(count: Int) throws {
        // With a hundred ports for each host, hashing only the host would cause collisions.
        let endpoints = try (0..<count).map { number in
            ServerEndpoint(host: try ServerName("host-\(number / 100).example"), port: UInt16(1 + number % 100))
        }
        let counter = Counted.Counter()
        let table = Dictionary(
            uniqueKeysWithValues: endpoints.map { (Counted(endpoint: $0, comparisons: counter), $0) })
        counter.value = 0
        for endpoint in endpoints {
            #expect(table[Counted(endpoint: endpoint, comparisons: counter)] == endpoint)
        }
        #expect(counter.value < 8 * count)

        let approvals = TrustApprovals(
            try endpoints.map { try TrustApproval(TestChain().keyPin(0).subject, for: $0, at: Self.now) })
        #expect(approvals.count == count)
        #expect(endpoints.allSatisfy { approvals[$0]?.endpoint == $0 })
    }
}
