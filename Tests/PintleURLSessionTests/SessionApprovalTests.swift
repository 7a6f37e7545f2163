import Foundation
import FoundationNetworking
import PintleOpenSSL
import PintleTestKit
import Synchronization
import Testing

@testable import PintleStorage
@testable import PintleURLSession

/// Self-signed servers and the user's decisions, with plain URLSession code.
@Suite("Pinned sessions: approvals")
struct SessionApprovalTests {
    private static func server(_ identity: Identity) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(identity, handler: { _ in .ok })
    }

    private static func asking() throws -> PinningPolicy { try PinningPolicy(hosts: [], unpinnedHosts: .askUser) }

    private static func rejection(_ session: URLSession, _ url: URL) async throws -> TrustRejection? {
        do {
            _ = try await session.data(from: url)
            return nil
        } catch {
            let rejection: TrustRejection = try #require(TrustRejection(underlying: error), "\(error)")
            return rejection
        }
    }

    /// Returns an approval by a user who got the fingerprint over another channel.
    private static func approval(
        _ identity: Identity, _ server: LoopbackTLSServer, byKey: Bool = false, until expiry: Date? = nil
    ) throws -> TrustApproval {
        let leaf = try Certificate(der: identity.certificate.der)
        return try TrustApproval(
            byKey ? .publicKey(leaf.publicKeyPin) : .certificate(leaf.fingerprint),
            for: ServerEndpoint(host: ServerName("localhost"), port: server.port), at: Date(), until: expiry)
    }

    @Test(
        "A request fails, the user approves, and the next request succeeds: in memory or on disk, by certificate or key"
    )
    func loop() async throws {
        let folder = try TemporaryDirectory()
        for subject in UnknownHost.ApprovedPart.allCases {
            let path = folder.path(of: "\(subject).json")
            for store in [TrustApprovalStore(), try TrustApprovalStore(path: path)] {
                let identity = try Identity.selfSigned()
                let server = try Self.server(identity)
                let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
                guard case .unknownHost(let host) = try await Self.rejection(session, try server.address()) else {
                    Issue.record("not asked")
                    continue
                }
                #expect(host.endpoint.port == server.port && host.leaf.der == identity.certificate.der)
                #expect(host.pathFailure?.code == .selfSigned && host.previous == nil)
                #expect(server.waitUntilClosed())
                #expect(server.requestByteCount == 0)

                let approval = try store.approve(host, as: subject)
                let (data, response) = try await session.data(from: try server.address())
                #expect(data == Data("ok\n".utf8))
                #expect(response.trustReceipt?.basis == .userApproved(approval))
                #expect(response.trustReceipt?.path.certificates == [identity.certificate.der])
            }
        }
    }

    @Test("A device with another name and an expired certificate is reached once exactly its certificate is approved")
    func exceptions() async throws {
        let identity = try Identity.selfSigned(hosts: ["router.test"]) { $0.notAfter = .fromNow(days: -1) }
        let server = try Self.server(identity)
        let store = TrustApprovalStore()
        let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        guard case .unknownHost(let host) = try await Self.rejection(session, try server.address()) else {
            Issue.record("not asked")
            return
        }
        #expect(host.exceptionsOfCertificate == [.nameMismatch, .expired])
        let refusal = #expect(throws: TrustStoreError.self) { try store.approve(host) }
        #expect(refusal.map { "\($0)" }?.contains("exceptionsOfCertificate") == true)
        let approval = try store.approve(host, alsoAccepting: host.exceptionsOfCertificate)
        for _ in 0..<2 {
            let (data, response) = try await session.data(from: try server.address())
            #expect(data == Data("ok\n".utf8))
            #expect(response.trustReceipt?.basis == .userApproved(approval))
        }
        // After the approval is revoked, the user is asked about the same device again.
        try store.revoke(host.endpoint)
        #expect(try await Self.rejection(session, try server.address())?.reason == "unknown-host")
    }

    @Test("Another name is accepted only at the approved endpoint, and never where a rule decides")
    func checkOfTheName() async throws {
        let identity = try Identity.selfSigned(hosts: ["router.test"])
        let server = try Self.server(identity)
        let leaf = try Certificate(der: identity.certificate.der)
        let store = TrustApprovalStore()
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
        let accepts: Set<TrustApproval.AcceptedFailure> = [.selfSigned, .nameMismatch]
        try store.approve(TrustApproval(.certificate(leaf.fingerprint), for: endpoint, accepting: accepts, at: Date()))
        let asking = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        #expect(try await asking.data(from: try server.address()).0.count == 3)
        // The same certificate was not approved at this address.
        #expect(
            try await Self.rejection(asking, try server.address(host: "127.0.0.1"))?.reason == "unknown-host")
        // The host has a rule, so the approval does not count.
        let ruled = try PinningPolicy(
            hosts: [PinnedHost("localhost", pins: [Pin](), anchors: .only([leaf]))], unpinnedHosts: .askUser)
        let strict = URLSession.pinned(to: ApprovedPolicy(ruled, approvals: store))
        #expect(try await Self.rejection(strict, try server.address())?.pathFailure?.code == .nameMismatch)
        // Another certificate at the approved endpoint is reported as a pin mismatch.
        let other = try Identity.selfSigned(hosts: ["router.test"])
        server.close()
        let next = try Self.server(other)
        let there = ServerEndpoint(host: try ServerName("localhost"), port: next.port)
        try store.approve(TrustApproval(.certificate(leaf.fingerprint), for: there, accepting: accepts, at: Date()))
        #expect(try await Self.rejection(asking, try next.address())?.reason == "pin-mismatch")
    }

    @Test("One self-signed server is reached through a bundled root and through an approval")
    func twoWays() async throws {
        let identity = try Identity.selfSigned()
        let server = try Self.server(identity)
        let anchor = try Certificate(der: identity.certificate.der)
        let bundled = try PinningPolicy {
            try PinnedHost("localhost", pins: [Pin](), anchors: .only([anchor]))
        }
        #expect(try await URLSession.pinned(to: bundled).data(from: try server.address()).0.count == 3)
        let store = TrustApprovalStore()
        try store.approve(try Self.approval(identity, server))
        let approved = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        #expect(try await approved.data(from: try server.address()).0.count == 3)
        // Neither works here: the rule has no anchor of its own, and approvals do not apply to hosts with a rule.
        let strict = try PinningPolicy(hosts: [try PinnedHost("localhost", pins: [Pin]())], unpinnedHosts: .askUser)
        for policy in [strict, try PinningPolicy(hosts: [])] {
            let session = URLSession.pinned(to: ApprovedPolicy(policy, approvals: store))
            #expect(try await Self.rejection(session, try server.address())?.reason == "invalid-path")
        }
    }

    @Test("The rejection says so if the record of earlier approvals is lost or unreadable")
    func record() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path(of: "trust.json")
        let store = try TrustApprovalStore(path: path)
        let (genuine, attacker) = (try Identity.selfSigned(), try Identity.selfSigned())
        let server = try Self.server(attacker)
        let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        func ask() async throws -> UnknownHost? {
            guard case .unknownHost(let host) = try await Self.rejection(session, try server.address()) else {
                return nil
            }
            return host
        }
        #expect(try await ask()?.isFirstContact == true)
        try store.approve(try Self.approval(genuine, server))
        #expect(try await Self.rejection(session, try server.address())?.reason == "pin-mismatch")
        let whole = try folder.read("trust.json")
        try folder.write(Array(whole.dropLast(2)), to: "trust.json")
        #expect(try await ask()?.approvalRecord == .unreadable)
        #expect(rename(path, path + ".moved") == 0)
        let host = try await ask()
        #expect(host?.approvalRecord == .lost && host?.isFirstContact == false)
        try folder.write(whole, to: "trust.json")
        #expect(try await Self.rejection(session, try server.address())?.reason == "pin-mismatch")
    }

    @Test("A changed key is a pin mismatch, and the server gets no byte")
    func changedKey() async throws {
        let (genuine, attacker) = (try Identity.selfSigned(), try Identity.selfSigned())
        let server = try Self.server(attacker)
        for (identity, reason) in [(attacker, nil), (genuine, "pin-mismatch")] {
            let before = server.requestByteCount
            let store = TrustApprovalStore()
            let approval = try Self.approval(identity, server)
            try store.approve(approval)
            let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
            let rejection = try await Self.rejection(session, try server.address())
            #expect(rejection?.reason == reason)
            #expect((server.requestByteCount > before) == (reason == nil))
            guard case .pinMismatch(let mismatch) = rejection else { continue }
            #expect(mismatch.approval?.approval == approval)
            #expect(mismatch.approval?.leaf.der == attacker.certificate.der)
        }
    }

    @Test("A certificate that expired after its approval is refused", arguments: [-1, 1] as [Int])
    func expiredCertificate(days: Int) async throws {
        let identity = try Identity.selfSigned { $0.notAfter = .fromNow(days: days) }
        let server = try Self.server(identity)
        let store = TrustApprovalStore()
        try store.approve(try Self.approval(identity, server, byKey: true))
        let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        let rejection = try await Self.rejection(session, try server.address())
        #expect(rejection?.pathFailure?.code == (days < 0 ? .expired : nil))
        #expect(rejection?.reason == (days < 0 ? "invalid-path" : nil))
        #expect((server.requestByteCount > 0) == (days > 0))
    }

    @Test(
        "After an approval is revoked, even by another process, a kept connection carries no new request",
        arguments: [true, false])
    func revoked(isOther: Bool) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path(of: "trust.json")
        let (store, other) = (try TrustApprovalStore(path: path), try TrustApprovalStore(path: path))
        let identity = try Identity.selfSigned()
        let server = try Self.server(identity)
        try store.approve(try Self.approval(identity, server))
        let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        _ = try await session.data(from: try server.address())
        _ = try await session.data(from: try server.address())
        #expect(await server.hasCompletedHandshakes(1))
        #expect(server.completedHandshakeCount == 1)

        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
        // An approval of another server starts a new generation, but changes nothing for this server.
        try other.approve(try TrustApproval(.publicKey(PublicKeyPin(Self.somePin)), for: Self.elsewhere, at: Date()))
        _ = try await session.data(from: try server.address())
        #expect(await server.hasCompletedHandshakes(2))

        try (isOther ? other : store).revoke(endpoint)
        let before = server.requestByteCount
        let rejection = try await Self.rejection(session, try server.address())
        guard case .unknownHost(let host) = rejection else {
            Issue.record("\(rejection as Any)")
            return
        }
        #expect(host.previous?.revokedAt != nil && !host.wasKnownWithAnotherKey)
        #expect(server.requestByteCount == before && server.requests.count == 3)
        try store.approve(host)
        #expect(try await session.data(from: try server.address()).0.count == 3)
    }

    private static let somePin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static var elsewhere: ServerEndpoint {
        get throws { ServerEndpoint(host: try ServerName("elsewhere.test")) }
    }

    @Test("The receipt ends with the approval, and a kept connection ends with the receipt")
    func expiry() async throws {
        let identity = try Identity.selfSigned()
        let server = try Self.server(identity)
        let expiry = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 3_600).rounded(.down))
        for end in [expiry, nil] {
            let store = TrustApprovalStore()
            try store.approve(try Self.approval(identity, server, until: end))
            let isLate = Mutex(false)
            let session = PinnedURLSession(
                source: ApprovedPolicy(LivePolicy(try Self.asking()), approvals: store), configuration: .ephemeral,
                delegate: nil, delegateQueue: nil,
                options: CurlTransport.Options(now: { isLate.withLock { $0 } ? expiry : Date() }))
            let before = server.requests.count
            let receipt = try await session.data(from: try server.address()).1.trustReceipt
            #expect((receipt?.validUntil == expiry) == (end != nil))
            #expect(receipt.map { $0.validUntil >= expiry } == true)
            isLate.withLock { $0 = true }
            // By that clock the receipt of a new connection has already expired.
            let error = await Result { try await session.data(from: try server.address()) }
            #expect(error.refusal == (end == nil ? nil : .notJudged))
            #expect(server.requests.count == before + (end == nil ? 2 : 1))
        }
    }

    @Test("No request waits for the user: the connection is closed, and other servers are served meanwhile")
    func noWaiting() async throws {
        let (unknown, known) = (try Identity.selfSigned(), try Identity.selfSigned())
        let (stranger, friend) = (try Self.server(unknown), try Self.server(known))
        let store = TrustApprovalStore()
        try store.approve(try Self.approval(known, friend))
        let recorder = Recorder()
        let session = URLSession.pinned(
            to: ApprovedPolicy(try Self.asking(), approvals: store), configuration: .ephemeral, delegate: recorder)
        let task = session.dataTask(with: try stranger.address())
        await recorder.run(task)
        #expect(recorder.events == ["complete"])
        let error = try #require(recorder.log.withLock { $0.error })
        guard case .unknownHost(let host) = TrustRejection(underlying: error) else {
            Issue.record("\(error)")
            return
        }
        // The user is still deciding. The connection is closed, and other requests go on.
        #expect(stranger.waitUntilClosed())
        #expect(try await session.data(from: try friend.address()).0.count == 3)
        #expect(stranger.connectionCount == 1)
        try store.approve(host)
        #expect(try await session.data(from: try stranger.address()).0.count == 3)
    }

    /// The store that the impostor meets: a damaged one, one whose damaged file was set aside, or a new one.
    enum Loss: CaseIterable { case damaged, setAside, none }

    @Test("After the store was lost, a plain approve call does not approve an impostor", arguments: Loss.allCases)
    func impostor(loss: Loss) async throws {
        let folder = try TemporaryDirectory()
        let (genuine, impostor) = (try Identity.selfSigned(), try Identity.selfSigned())
        let (server, other) = (try Self.server(genuine), try Self.server(impostor))
        let store = try TrustApprovalStore(path: folder.path(of: "trust.json"))
        // Otherwise the store had known the genuine server at the same host and port.
        if loss != .none {
            try store.approve(try Self.approval(genuine, other))
            try folder.write("{\n  \"version\": 1,\n  \"gen", to: "trust.json")
        }
        if loss == .setAside { try store.approve(try Self.approval(genuine, server)) }
        let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        guard case .unknownHost(let host) = try await Self.rejection(session, try other.address()) else {
            Issue.record("not asked")
            return
        }
        #expect(host.isFirstContact == (loss == .none))
        guard loss != .none else {
            try store.approve(host)
            #expect(try await session.data(from: try other.address()).0.count == 3)
            return
        }
        let error = #expect(throws: TrustStoreError.self) { try store.approve(host) }
        #expect(error == .approval(.incompleteRecord(.lost)))
        #expect(error?.code == "incomplete-record")
        #expect(error?.localizedDescription.contains("compare the fingerprint again") == true)
        #expect(try await Self.rejection(session, try other.address())?.reason == "unknown-host")
        #expect(other.requests.isEmpty)
        try store.approve(host, acceptingIncompleteRecord: true)
        #expect(try await session.data(from: try other.address()).0.count == 3)
    }

    @Test("An answer to a question from before the store was lost is refused afterwards")
    func lateLoss() async throws {
        let folder = try TemporaryDirectory()
        let identity = try Identity.selfSigned()
        let server = try Self.server(identity)
        let store = try TrustApprovalStore(path: folder.path(of: "trust.json"))
        let session = URLSession.pinned(to: ApprovedPolicy(try Self.asking(), approvals: store))
        guard case .unknownHost(let host) = try await Self.rejection(session, try server.address()) else {
            Issue.record("not asked")
            return
        }
        #expect(host.isFirstContact)
        try folder.write("{\n  \"version\": 1,\n  \"gen", to: "trust.json")
        let error = #expect(throws: TrustStoreError.self) { try store.approve(host) }
        #expect(error == .approval(.incompleteRecord(.lost)))
    }

    @Test("A store that cannot be read approves no server, and pinned hosts still work")
    func brokenStore() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path(of: "trust.json")
        let events = Mutex<[TrustStoreEvent]>([])
        let store = try TrustApprovalStore(path: path) { event in events.withLock { $0.append(event) } }
        let (identity, fixture) = (try Identity.selfSigned(), try SessionFixture())
        let (approved, pinned) = (try Self.server(identity), try fixture.server())
        try store.approve(try Self.approval(identity, approved))
        let session = URLSession.pinned(
            to: ApprovedPolicy(try fixture.policy(port: pinned.port, unpinnedHosts: .askUser), approvals: store))
        #expect(try await session.data(from: try approved.address()).0.count == 3)
        try folder.write("garbage", to: "trust.json")
        #expect(try await Self.rejection(session, try approved.address())?.reason == "unknown-host")
        #expect(try await session.data(from: try pinned.address()).0.count == 3)
        #expect(events.withLock { $0.count } == 1)
    }
}

extension Result where Success == (Data, URLResponse), Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    fileprivate var refusal: SessionError.Code? {
        if case .failure(let error) = self { (error as? URLError)?.refusal } else { nil }
    }
}
