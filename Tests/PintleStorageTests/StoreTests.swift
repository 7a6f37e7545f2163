import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleStorage
import PintleTestKit
import Testing

@Suite("The store of approvals")
struct StoreTests {
    @Test("A store in memory and one on disk behave alike", arguments: [false, true])
    func operations(isOnDisk: Bool) throws {
        let scene = try StoreScene()
        let store = isOnDisk ? try scene.open() : TrustApprovalStore()
        let approval = try TrustApproval.test("nas.test")
        #expect(store.approvals == .none && store.problem == nil)
        #expect(scene.names == [])

        try store.approve(approval)
        #expect(store[approval.endpoint] == approval)
        #expect(store.approvals.revision == 1)
        let conflict = #expect(throws: TrustStoreError.self) {
            try store.approve(try .test("nas.test", pin: "another"))
        }
        #expect(conflict == .approval(.approvedOtherwise(approval)))
        #expect(store.approvals.revision == 1)

        try store.approve(try .test("b.test", port: 8443))
        #expect(store.approvals.all.map(\.endpoint.description) == ["b.test:8443", "nas.test:443"])
        #expect(try store.revoke(.test("c.test")) == nil)
        #expect(store.approvals.revision == 2)
        #expect(try store.revoke(approval.endpoint)?.revokedAt != nil)
        #expect(store[approval.endpoint]?.state(at: Date()) == .revoked)
        try store.replace(try .test("b.test", port: 8443, pin: "another"))
        #expect(store.approvals.revision == 4)
        #expect(try TrustApprovals(json: store.approvals.json()) == store.approvals)
        if isOnDisk { #expect(try scene.open().approvals == store.approvals) }
    }

    @Test("The file is private whatever the umask is, and only the lock is left beside it")
    func mode() throws {
        let scene = try StoreScene()
        try scene.open().approve(try .test("nas.test"))
        #expect(scene.names == ["trust.json", "trust.json.lock"])
        #expect(scene.mode(scene.path) == 0o600)
        #expect(scene.mode(scene.path + ".lock") & 0o077 == 0)
        #expect(try TrustApprovals(json: scene.folder.read("trust.json")).count == 1)
    }

    @Test("A change by another store on the same file is visible at the next read")
    func otherProcess() throws {
        let scene = try StoreScene()
        let (one, other) = (try scene.open(), try scene.open())
        let approval = try TrustApproval.test("nas.test")
        for _ in 0..<50 {
            try other.replace(approval)
            #expect(one[approval.endpoint]?.revokedAt == nil)
            try other.revoke(approval.endpoint)
            #expect(one[approval.endpoint]?.revokedAt != nil)
        }
        #expect(one.approvals.revision == 100)
        // Removing the file removes the approvals.
        #expect(unlink(scene.path) == 0)
        #expect(one.approvals.count == 0 && one.problem == nil)
        try one.approve(approval)
        #expect(other[approval.endpoint] == approval)
    }

    @Test("Only a change of the content starts a new revision, not a read or an equal file")
    func revisions() throws {
        let scene = try StoreScene()
        let (one, other) = (try scene.open(), try scene.open())
        let first = one.current.revision
        #expect(one.current.revision == first)
        try other.approve(try .test("nas.test"))
        #expect(one.current.revision == first + 1)
        // The same content in another file is no change.
        try scene.folder.write(try scene.folder.read("trust.json"), to: "trust.json")
        #expect(one.current.revision == first + 1)
        try other.revoke(.test("nas.test"))
        #expect(one.current.revision == first + 2)
        #expect(unlink(scene.path) == 0)
        #expect(one.current.revision == first + 3)
        try other.approve(try .test("nas.test"))
        #expect(one.current.revision == first + 4)
    }

    @Test("An approval answers its question, and a question about another certificate then fails")
    func answers() throws {
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let scene = try StoreScene()
        let store = try scene.open()
        func ask(_ identity: Identity) throws -> TrustDecision {
            policy.evaluate(
                try .test("nas.test"), presented: identity.chain, approvals: store.approvals, at: Date()
            ) { request in
                request.anchors.includesSystem
                    ? .invalid(PathFailure(.selfSigned, depth: 0, text: "it signs itself"))
                    : .valid(ValidatedPath(uncheckedLeafToAnchor: [request.chain.leaf.der]))
            }.decision
        }
        let (genuine, attacker) = (try Identity.selfSigned(), try Identity.selfSigned())
        guard case .rejected(.unknownHost(let host)) = try ask(genuine),
            case .rejected(.unknownHost(let other)) = try ask(attacker)
        else {
            Issue.record("not asked")
            return
        }
        let approval = try store.approve(host, note: "by the label")
        #expect(approval.accepts == [.selfSigned] && store[host.endpoint] == approval)
        let error = #expect(throws: TrustStoreError.self) { try store.approve(other) }
        #expect(error?.code == "approved-otherwise")
        #expect(try ask(genuine).reason == "user-approved")
        #expect(try ask(attacker).reason == "pin-mismatch")
        try store.revoke(host.endpoint)
        #expect(try ask(genuine).reason == "unknown-host")
    }

    @Test("An approval does not override a decision that was stored after the question")
    func overtaken() throws {
        let scene = try StoreScene()
        let (store, other) = (try scene.open(), try scene.open())
        let identity = try Identity.selfSigned()
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        func ask() throws -> UnknownHost? {
            let decision = policy.evaluate(
                try .test("nas.test"), presented: identity.chain, approvals: store.approvals, at: Date()
            ) { request in .valid(ValidatedPath(uncheckedLeafToAnchor: [request.chain.leaf.der])) }.decision
            guard case .rejected(.unknownHost(let host)) = decision else { return nil }
            return host
        }
        let first = try #require(try ask())
        let approval = try other.approve(first)
        // A second approval of the same question fails, because the server is already approved.
        let again = #expect(throws: TrustStoreError.self) { try store.approve(first) }
        #expect(again == .approval(.changedMeanwhile(approval)) && again?.code == "changed-meanwhile")
        // It also fails if the approval was revoked in the meantime.
        let revoked = try #require(try other.revoke(first.endpoint))
        let late = #expect(throws: TrustStoreError.self) { try store.approve(first) }
        #expect(late == .approval(.changedMeanwhile(revoked)))
        #expect(store[first.endpoint]?.revokedAt != nil)
        // A new question shows the revocation and can be approved. A decision about another server does not matter.
        let second = try #require(try ask())
        #expect(second.previous == revoked)
        try other.approve(try .test("b.test"))
        try store.approve(second)
        #expect(store[first.endpoint]?.revokedAt == nil)
        // An expired approval can be renewed, also as an approval of the key.
        try other.replace(
            TrustApproval(.certificate(first.leaf.fingerprint), for: first.endpoint, at: Date() - 9, until: Date() - 1))
        let expired = try #require(try ask())
        #expect(try store.approve(expired, as: .key).subject == .publicKey(first.leaf.publicKeyPin))
        // A store in memory behaves alike.
        let memory = TrustApprovalStore()
        let known = try memory.approve(first)
        let repeated = #expect(throws: TrustStoreError.self) { try memory.approve(first) }
        #expect(repeated == .approval(.changedMeanwhile(known)) && repeated?.code == "changed-meanwhile")
    }

    @Test("A question says if earlier approvals may be lost")
    func marks() throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let identity = try Identity.selfSigned()
        let path = ValidatedPath(uncheckedLeafToAnchor: identity.chain)
        let evaluator = ServerTrustEvaluator(
            policy: try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: { store.approvals },
            validate: { _ in .valid(path) })
        func ask() throws -> UnknownHost? {
            let decision = evaluator.evaluate(try .test("nas.test"), presented: identity.chain, at: Date()).decision
            guard case .rejected(.unknownHost(let host)) = decision else { return nil }
            return host
        }
        let new = try #require(try ask())
        #expect(new.approvalRecord == .complete && new.isFirstContact)
        try store.approve(try .test("nas.test", pin: "another"))
        #expect(try ask() == nil)
        let whole = try scene.folder.read("trust.json")
        try scene.folder.write(Array(whole.dropLast(2)), to: "trust.json")
        let unread = try #require(try ask())
        #expect(unread.approvalRecord == .unreadable && !unread.isFirstContact && unread.previous == nil)
        #expect("\(unread)".contains("whether it was approved before cannot be read"))
        try store.approve(try .test("b.test"))
        let lost = try #require(try ask())
        #expect(lost.approvalRecord == .lost && !lost.isFirstContact)
        #expect("\(lost)".contains("whether it was approved before is lost"))
        // An approval must state explicitly that the user knows about the loss.
        let error = #expect(throws: TrustStoreError.self) { try store.approve(lost) }
        #expect(error == .approval(.incompleteRecord(.lost)) && error?.code == "incomplete-record")
        try store.approve(lost, acceptingIncompleteRecord: true)
        #expect(try ask() == nil)
    }

    @Test("Ten thousand approvals are stored and read")
    func many() throws {
        let scene = try StoreScene()
        let approvals = TrustApprovals(try (0..<10_000).map { try .test("host-\($0).test") }, revision: 10_000)
        try scene.folder.write(approvals.json(), to: "trust.json")
        let store = try scene.open()
        #expect(store.approvals == approvals)
        try store.revoke(.test("host-7777.test"))
        #expect(store.approvals.revision == 10_001)
        #expect(try scene.open()[.test("host-7777.test")]?.revokedAt != nil)
    }
}
