import Foundation
import FoundationNetworking
import PintleCrypto
import PintleTestKit
import PintleUpdates
import Synchronization
import Testing

@testable import PintlePolicyFile
@testable import PintleRemote
@testable import PintleURLSession

/// Key rotation without a release: a session is pinned to a store, which gets updates from a server of its own.
@Suite("Pinned sessions: signed updates")
struct SessionUpdateTests {
    private let fixture: SessionFixture
    private let directory: TemporaryDirectory
    private let seed = [UInt8](repeating: 5, count: 32)

    init() throws {
        fixture = try SessionFixture()
        directory = try TemporaryDirectory()
    }

    private var trust: UpdateTrust {
        get throws {
            let raw = try #require(Ed25519.publicKey(ofSeed: seed))
            return try UpdateTrust(keys: [try UpdateKey(rawRepresentation: raw)])
        }
    }

    private func update(_ version: Int, _ policy: PinningPolicy) throws -> [UInt8] {
        var envelope = SignedEnvelope(
            payload: UpdatePayload.json(
                version: version, issuedAt: Date(timeIntervalSinceNow: -60),
                expiresAt: Date(timeIntervalSinceNow: 86_400), policy: policy))
        let signature = try #require(Ed25519.signature(of: envelope.signedBytes, seed: seed))
        envelope.signatures = [.init(keyID: nil, bytes: signature)]
        return envelope.json
    }

    private func store(_ bundled: PinningPolicy) throws -> PolicyStore {
        try PolicyStore(
            files: StoreFiles(folder: directory.path), trust: try trust, bundled: bundled,
            mismatchLimit: MismatchLimit())
    }

    private func source(_ server: LoopbackTLSServer, path: String = "/latest.json") throws -> UpdateSource {
        // The update source checks only the path, because the pins that an update repairs must not block it.
        UpdateSource(
            urls: [try server.address(path)],
            transport: SystemTrustTransport(policy: try fixture.unpinned()))
    }

    @Test("An update repairs a wrong pin, and the request is made once more")
    func mended() async throws {
        let server = try fixture.server()
        let body = try update(7, fixture.policy())
        let publisher = try fixture.server { _ in HTTPResponse(status: 200, body: body) }
        let store = try store(try fixture.policy(rightPin: false))
        let session = URLSession.pinned(to: store, configuration: .ephemeral)
        let address = try server.address()
        let refused = await #expect(throws: URLError.self) { try await session.data(from: address) }
        #expect(TrustRejection(underlying: try #require(refused))?.reason == "pin-mismatch")
        #expect(server.requestByteCount == 0)

        let source = try source(publisher)
        let (_, response) = try await store.refreshIfMismatch(from: source) { try await session.data(from: address) }
        #expect(response.trustReceipt?.generation == 2 && store.current.policy.updateVersion == 7)
        #expect(server.requests.count == 1 && publisher.requests.count == 1)
        // The next process reads the update only from the disk.
        let again = URLSession.pinned(
            to: try self.store(try fixture.policy(rightPin: false)), configuration: .ephemeral)
        _ = try await again.data(from: address)
    }

    @Test(
        "A key that an update withdraws is refused on kept connections and in the next process; a kept key works",
        arguments: [true, false])
    func withdrawn(isKept: Bool) async throws {
        let server = try fixture.server()
        let bundled = try fixture.policy()
        let store = try store(bundled)
        let session = URLSession.pinned(to: store, configuration: .ephemeral)
        let address = try server.address()
        _ = try await session.data(from: address)
        let before = server.requestByteCount
        try await store.adopt(try update(7, fixture.policy(rightPin: isKept)))
        let next = URLSession.pinned(to: try self.store(bundled), configuration: .ephemeral)
        for session in [session, next] {
            guard !isKept else {
                #expect(try await session.data(from: address).1.trustReceipt?.matchedPin != nil)
                continue
            }
            let error = await #expect(throws: URLError.self) { try await session.data(from: address) }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
            #expect(server.requestByteCount == before)
        }
    }

    @Test("An interceptor's mismatch stays a mismatch if the update has the same pins")
    func notMended() async throws {
        let server = try fixture.server()
        let wrong = try fixture.policy(rightPin: false)
        let body = try update(7, wrong)
        let publisher = try fixture.server { _ in HTTPResponse(status: 200, body: body) }
        let store = try store(wrong)
        let session = URLSession.pinned(to: store, configuration: .ephemeral)
        let (address, source) = (try server.address(), try source(publisher))
        for _ in 0..<3 {
            let error = await #expect(throws: URLError.self) {
                try await store.refreshIfMismatch(from: source) { try await session.data(from: address) }
            }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        }
        // The publisher is asked only once, however often the server is refused.
        #expect(publisher.requests.count == 1 && server.requestByteCount == 0)
    }

    @Test("The transport returns the document with its tag, or that it has not changed")
    func entityTag() async throws {
        let publisher = try fixture.server { request in
            request["if-none-match"] == "\"1\""
                ? HTTPResponse(status: 304)
                : HTTPResponse(status: 200, fields: [HTTPField("ETag", "\"1\"")], body: Array("x".utf8))
        }
        let transport = SystemTrustTransport(policy: try fixture.unpinned())
        let url = try publisher.address()
        func ask(_ tag: String?, maximumBytes: Int = 10) async throws -> UpdateResponse {
            try await transport.fetch(
                UpdateRequest(url: url, entityTag: tag, maximumBytes: maximumBytes, timeoutSeconds: 30))
        }
        #expect(try await ask(nil) == .document(Array("x".utf8), entityTag: "\"1\""))
        #expect(try await ask("\"1\"") == .notModified)
        let error = await #expect(throws: URLError.self) { try await ask(nil, maximumBytes: 0) }
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(error?.isAboutTrust == false)
    }

    @Test("A redirect is followed to https, and not to plain HTTP")
    func redirect() async throws {
        let publisher = try fixture.server { _ in HTTPResponse(status: 200, body: Array("x".utf8)) }
        let target = try publisher.address()
        let transport = SystemTrustTransport(policy: try fixture.unpinned())
        let plain = target.absoluteString.replacing("https:", with: "http:")
        for (location, isFollowed) in [(target.absoluteString, true), (plain, false)] {
            let server = try fixture.server { _ in .redirect(to: location) }
            let request = UpdateRequest(
                url: try server.address(), entityTag: nil, maximumBytes: 10, timeoutSeconds: 30)
            if isFollowed {
                #expect(try await transport.fetch(request) == .document(Array("x".utf8), entityTag: nil))
            } else {
                let error = await #expect(throws: URLError.self) { try await transport.fetch(request) }
                #expect(error?.code == .appTransportSecurityRequiresSecureConnection, "\(error as Any)")
            }
        }
        #expect(publisher.requests.count == 1)
    }

    @Test("An endless body is cut off at its limit, and a slow one at the time-out")
    func endless() async throws {
        let sent = Atomic(0)
        let endless = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 65_536)
            guard (try? stream.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))) != nil else { return }
            let piece = [UInt8](repeating: 0x20, count: 65_536)
            while sent.load(ordering: .relaxed) < 100 << 20, (try? stream.write(piece)) != nil {
                sent.add(piece.count, ordering: .relaxed)
            }
        })
        let silent = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 65_536)
            _ = try? stream.write(Array("HTTP/1.1 200 OK\r\n\r\n{".utf8))
            _ = try? stream.read(upTo: 65_536)
        })
        let transport = SystemTrustTransport(policy: try fixture.unpinned())
        func code(_ server: LoopbackTLSServer, timeout: Double) async throws -> URLError.Code? {
            let request = UpdateRequest(
                url: try server.address(), entityTag: nil, maximumBytes: 1 << 20, timeoutSeconds: timeout)
            return await #expect(throws: URLError.self) { try await transport.fetch(request) }?.code
        }
        #expect(try await code(endless, timeout: 60) == .dataLengthExceedsMaximum)
        #expect(sent.load(ordering: .relaxed) < 100 << 20)
        #expect(try await code(silent, timeout: 0.5) == .timedOut)
    }

    @Test("The transport uses only https, and only servers that the system trusts")
    func onlyHTTPS() async throws {
        let publisher = try fixture.server()
        let url = try publisher.address().absoluteString
        let system = SystemTrustTransport()
        // Foundation cannot represent these URLs, so there is nothing to test.
        #expect(URL(string: "") == nil && URL(string: "https://[") == nil)
        func request(_ text: String) throws -> UpdateRequest {
            UpdateRequest(url: try #require(URL(string: text)), entityTag: nil, maximumBytes: 10, timeoutSeconds: 30)
        }
        for text in ["http" + url.dropFirst(5), "ftp://localhost/", "file:///etc/passwd"] {
            let error = await #expect(throws: URLError.self) { try await system.fetch(request(text)) }
            #expect(error?.code == .unsupportedURL)
        }
        #expect(publisher.connectionCount == 0)
        let error = await #expect(throws: URLError.self) { try await system.fetch(request(url)) }
        #expect(error?.pathFailure?.code == .untrustedRoot)
        #expect(publisher.requestByteCount == 0)
        let trusting = SystemTrustTransport(policy: try fixture.unpinned())
        #expect(try await trusting.fetch(request(url)) == .document(Array("ok\n".utf8), entityTag: nil))
    }
}
