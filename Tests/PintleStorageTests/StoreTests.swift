import FoundationEssentials
import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@Suite("The store of decisions")
struct StoreTests {
    @Test("A store in memory and one on disk do the same", arguments: [false, true])
    func operations(isOnDisk: Bool) throws {
        let scene = try StoreScene()
        let store = isOnDisk ? try scene.open() : TrustDecisionStore()
        let approval = try TrustApproval.test("nas.test")
        #expect(store.approvals == .none && store.problem == nil)
        #expect(scene.names == [])

        try store.approve(approval)
        #expect(store[approval.endpoint] == approval)
        #expect(store.approvals.generation == 1)
        let conflict = #expect(throws: TrustStoreError.self) {
            try store.approve(try .test("nas.test", pin: "another"))
        }
        #expect(conflict == .approval(.approvedOtherwise(approval)))
        #expect(store.approvals.generation == 1)

        try store.approve(try .test("b.test", port: 8443))
        #expect(store.approvals.all.map(\.endpoint.description) == ["b.test:8443", "nas.test:443"])
        #expect(try store.revoke(.test("c.test")) == nil)
        #expect(store.approvals.generation == 2)
        #expect(try store.revoke(approval.endpoint)?.revokedAt != nil)
        #expect(store[approval.endpoint]?.state(at: Date()) == .revoked)
        try store.replace(try .test("b.test", port: 8443, pin: "another"))
        #expect(store.approvals.generation == 4)
        #expect(try TrustApprovals(json: store.approvals.json()) == store.approvals)
        if isOnDisk { #expect(try scene.open().approvals == store.approvals) }
    }

    @Test("The file is the owner's alone, whatever the umask leaves, and nothing else stays but the lock")
    func mode() throws {
        let scene = try StoreScene()
        try scene.open().approve(try .test("nas.test"))
        #expect(scene.names == ["trust.json", "trust.json.lock"])
        #expect(scene.mode(scene.path) == 0o600)
        #expect(scene.mode(scene.path + ".lock") & 0o077 == 0)
        #expect(try TrustApprovals(json: scene.folder.read("trust.json")).count == 1)
    }

    @Test("What another store on the same file changes counts at the next look")
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
        #expect(one.approvals.generation == 100)
        // It goes with the file, too.
        #expect(unlink(scene.path) == 0)
        #expect(one.approvals == .none && one.problem == nil)
        try one.approve(approval)
        #expect(other[approval.endpoint] == approval)
    }

    @Test("The same content again, or a look, is no change; each change is one")
    func revisions() throws {
        let scene = try StoreScene()
        let (one, other) = (try scene.open(), try scene.open())
        let first = one.current.revision
        #expect(one.current.revision == first)
        try other.approve(try .test("nas.test"))
        #expect(one.current.revision == first + 1)
        // Touched, copied over itself: another file, and nothing new in it.
        try scene.folder.write(try scene.folder.read("trust.json"), to: "trust.json")
        #expect(one.current.revision == first + 1)
        try other.revoke(.test("nas.test"))
        #expect(one.current.revision == first + 2)
        #expect(unlink(scene.path) == 0)
        #expect(one.current.revision == first + 3)
        try other.approve(try .test("nas.test"))
        #expect(one.current.revision == first + 4)
    }

    @Test("The answer to a question is stored; a question that was overtaken by an answer is an alarm")
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

    @Test("Ten thousand approvals are stored and read")
    func many() throws {
        let scene = try StoreScene()
        let approvals = TrustApprovals(try (0..<10_000).map { try .test("host-\($0).test") }, generation: 10_000)
        try scene.folder.write(approvals.json(), to: "trust.json")
        let store = try scene.open()
        #expect(store.approvals == approvals)
        try store.revoke(.test("host-7777.test"))
        #expect(store.approvals.generation == 10_001)
        #expect(try scene.open()[.test("host-7777.test")]?.revokedAt != nil)
    }
}
