import Foundation
import FoundationNetworking
import PintleAttacks
import PintleEvents
import PintleReports
import PintleTestKit
import PintleTestPeers
import PintleURLSession
import Synchronization
import Testing

/// The verdict, in every style of task. Each refusal has a control that differs only in the pin.
@Suite("Pinned sessions: trust")
struct SessionTrustTests {
    enum Style: String, CaseIterable {
        case asynchronous, completionHandler, delegate, uploadData, uploadFile, download, downloadDelegate
        case asynchronousWithDelegate, asynchronousAsURLSession
    }

    @Test(
        "The right pin gets the response; a wrong pin gets nothing, and the server gets no byte",
        arguments: Style.allCases)
    func pin(style: Style) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()

        let good = try await run(style, .pinned(to: try fixture.policy()), server)
        #expect(good.error == nil)
        #expect(good.data == Data("ok\n".utf8))
        #expect(server.requestByteCount > 0)

        let interceptor = try fixture.server()
        let bad = try await run(style, .pinned(to: try fixture.policy(rightPin: false)), interceptor)
        #expect(bad.data == nil)
        let error = try #require(bad.error)
        #expect((error as? URLError)?.code == .serverCertificateUntrusted)
        guard case .pinMismatch(let mismatch) = TrustRejection(underlying: error) else {
            Issue.record("not a mismatch: \(error)")
            return
        }
        #expect(mismatch.servedPins.first?.description == fixture.pinText)
        #expect(error.localizedDescription.contains(fixture.pinText))
        #expect(interceptor.waitUntilClosed())
        #expect(interceptor.requestByteCount == 0)
        #expect(interceptor.alertsReceived.map(\.code).contains(46))
    }

    private func run(
        _ style: Style, _ session: PinnedURLSession, _ server: LoopbackTLSServer
    ) async throws -> (data: Data?, error: (any Error)?) {
        var request = URLRequest(url: try server.address())
        let body = Data("secret".utf8)
        let recorder = Recorder()
        let plain: URLSession = session
        do {
            switch style {
            case .asynchronous: return (try await session.data(for: request).0, nil)
            case .asynchronousAsURLSession: return (try await plain.data(from: try server.address()).0, nil)
            case .asynchronousWithDelegate: return (try await plain.data(for: request, delegate: recorder).0, nil)
            case .uploadData:
                request.httpMethod = "POST"
                return (try await plain.upload(for: request, from: body).0, nil)
            case .uploadFile:
                request.httpMethod = "PUT"
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try body.write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                return (try await session.upload(for: request, fromFile: file).0, nil)
            case .download:
                let (file, _) = try await session.download(for: request)
                defer { try? FileManager.default.removeItem(at: file) }
                return (try Data(contentsOf: file), nil)
            case .completionHandler:
                return await withCheckedContinuation { continuation in
                    plain.dataTask(with: request) { data, _, error in continuation.resume(returning: (data, error)) }
                        .resume()
                }
            case .delegate:
                let task = session.dataTask(with: request)
                task.delegate = recorder
                await recorder.run(task)
                return recorder.log.withLock { ($0.error == nil ? $0.data : nil, $0.error) }
            case .downloadDelegate:
                let task = plain.downloadTask(with: request)
                task.delegate = recorder
                await recorder.run(task)
                return recorder.log.withLock { ($0.downloaded, $0.error) }
            }
        } catch {
            return (nil, error)
        }
    }

    @Test("An untrusted path is refused before any pin, with the failure as the reason")
    func path() async throws {
        let fixture = try SessionFixture()
        let stranger = try CertificateAuthority.root().issue()
        let server = try LoopbackTLSServer(stranger)
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try fixture.unpinned()).data(from: try server.address())
        }
        let rejection = TrustRejection(underlying: try #require(error))
        #expect(rejection?.reason == "invalid-path")
        #expect(rejection?.pathFailure?.code == .untrustedRoot)
        #expect(server.requestByteCount == 0)
        let own = try fixture.server()
        #expect(try await URLSession.pinned(to: try fixture.unpinned()).data(from: try own.address()).0.count == 3)
    }

    @Test("A server without the certificate policy that its authority requires is refused")
    func certificatePolicy() async throws {
        let fixture = try SessionFixture()
        let policy: DERWriter.OID = [2, 999, 1]
        let authority = try fixture.root.intermediate {
            $0.extraExtensions = [.certificatePolicies([policy]), .policyConstraints(requireExplicitPolicy: 0)]
        }
        let session = URLSession.pinned(to: try fixture.unpinned())
        let bad = try LoopbackTLSServer(try authority.issue())
        let error = await #expect(throws: URLError.self) { try await session.data(from: try bad.address()) }
        #expect(error?.pathFailure?.code.rawValue == "no-valid-certificate-policy")
        #expect(bad.requestByteCount == 0)
        let good = try LoopbackTLSServer(
            try authority.issue { $0.extraExtensions = [.certificatePolicies([policy])] })
        #expect(try await session.data(from: try good.address()).0.count == 3)
    }

    @Test(
        "Certificates that cannot be parsed, or are too many, are refused with that reason",
        arguments: [PathFailure.Code.malformedCertificate, .limitsExceeded])
    func unreadable(code: PathFailure.Code) async throws {
        let fixture = try SessionFixture()
        let garbage = [[UInt8](repeating: 0x30, count: 200)]
        let many = fixture.identity.chain + Array(repeating: fixture.root.certificate.der, count: 200)
        let chain = code == .malformedCertificate ? garbage : many
        var configuration = TLSServerConfiguration(.init(chain: chain, key: fixture.identity.key))
        let server = try LoopbackTLSServer(configuration)
        let session = URLSession.pinned(to: try fixture.policy())
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.pathFailure?.code == code)
        #expect(server.requestByteCount == 0)

        configuration.credential = .init(fixture.identity)
        let good = try LoopbackTLSServer(configuration)
        #expect(try await session.data(from: try good.address()).0.count == 3)
    }

    @Test("A key with explicit EC parameters is refused at the leaf and ignored above it")
    func explicitCurve() async throws {
        let fixture = try SessionFixture()
        let key = SubjectPublicKeyInfo.explicitP256(fixture.identity.key)
        let odd = try fixture.root.issue(hosts: ["localhost"], key: fixture.identity.key) {
            $0.subjectPublicKeyInfo = key
        }
        let session = URLSession.pinned(to: try fixture.policy())
        func load(_ chain: [[UInt8]]) async throws -> Int {
            let server = try LoopbackTLSServer(TLSServerConfiguration(.init(chain: chain, key: fixture.identity.key)))
            return try await session.data(from: try server.address()).0.count
        }
        let error = await #expect(throws: URLError.self) { try await load(odd.chain) }
        #expect(TrustRejection(underlying: try #require(error))?.pathFailure?.code == .malformedCertificate)
        #expect(try await load(fixture.identity.chain + [odd.certificate.der]) == 3)
    }

    @Test("A policy can refuse hosts without a rule before any connection, and the observer gets the refusal")
    func hostNotAllowed() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = TrustEventRecorder()
        let session = URLSession.pinned(to: try fixture.policy(unpinnedHosts: .reject), observer: recorder)
        #expect(try await session.data(from: try server.address()).0.count == 3)
        let before = (server.requestByteCount, server.connectionCount)
        let error = await #expect(throws: URLError.self) {
            try await session.data(from: try server.address(host: "127.0.0.1"))
        }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "host-not-allowed")
        #expect((server.requestByteCount, server.connectionCount) == before)
        await recorder.waitForEvents()
        let reasons = recorder.events.map { event in
            if case .verdict(let failure) = event { failure.reason } else { "\(event)" }
        }
        #expect(reasons == ["host-not-allowed"])
        // Neither a server nor a proxy learns the name of a refused host.
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        let behind = URLSession.pinned(to: try fixture.policy(unpinnedHosts: .reject), configuration: configuration)
        let refused = await #expect(throws: URLError.self) {
            try await behind.data(from: try server.address(host: "127.0.0.1"))
        }
        #expect(TrustRejection(underlying: try #require(refused))?.reason == "host-not-allowed")
        #expect(proxy.connections.isEmpty)
        #expect(try await behind.data(from: try server.address()).0.count == 3 && proxy.connections.count == 1)
    }

    @Test("A response carries the receipt of its connection")
    func receipt() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let (_, response) = try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
        let receipt = try #require(response.trustReceipt)
        #expect(receipt.matchedPin?.depth == 0)
        #expect(receipt.path.certificates == fixture.identity.chainWithRoot)
        #expect(receipt.endpoint.port == server.port)
        #expect(receipt.rule?.pattern == "localhost")
        let pin = try #require(receipt.matchedPin?.pin)
        #expect("\(receipt)".hasPrefix("\(receipt.endpoint) trusted, pin-matched: \(pin) at depth 0; rule localhost,"))
        #expect("\(receipt)".count < 200)
    }

    @Test("An error that is not about trust has no rejection")
    func otherErrors() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let url = try server.address()
        server.close()
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try fixture.policy()).data(from: url)
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect(TrustRejection(underlying: try #require(error)) == nil)
    }
}

extension SessionFixture {
    var pinText: String {
        (try? PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER).description) ?? "none"
    }
}
