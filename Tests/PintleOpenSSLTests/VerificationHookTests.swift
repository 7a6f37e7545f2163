import COpenSSL
import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

@Suite("The verification hook")
struct VerificationHookTests {
    private let identity: Identity

    init() throws {
        identity = try .selfSigned()
    }

    private func server(_ version: TLSVersion = .v1_3) throws -> LoopbackTLSServer {
        var configuration = TLSServerConfiguration(.init(identity))
        configuration.versions = version == .v1_3 ? .tls13 ... .tls13 : .tls12 ... .tls12
        return try LoopbackTLSServer(configuration)
    }

    private func endpoint(_ host: String, _ port: UInt16 = 443) throws -> ServerEndpoint {
        ServerEndpoint(host: try ServerName(host), port: port)
    }

    /// Returns a hook that counts its calls for a verdict.
    private func hook(
        _ host: String = "localhost", _ verdict: HandshakeVerdict = .accept, _ counter: AskCounter = AskCounter()
    ) throws -> VerificationHook {
        VerificationHook(for: try endpoint(host)) { _ in
            counter.count += 1
            return verdict
        }
    }

    /// Makes a handshake in which the client's connection has the hook.
    private func connect(
        _ client: BareTLSClient, to server: LoopbackTLSServer, naming name: String? = "localhost",
        _ hook: VerificationHook
    ) throws -> Bool {
        var isAttached = false
        let isConnected = try client.connect(to: server.port, naming: name) { isAttached = hook.attach(to: $0) }
        #expect(isAttached)
        return isConnected
    }

    // MARK: The name in SNI

    @Test(
        "A handshake ends without a verdict if SNI names another server than the judged one",
        arguments: [TLSVersion.v1_2, .v1_3], ["localhost", "other.example.test"])
    func otherName(version: TLSVersion, judged: String) throws {
        let server = try server(version)
        let asked = AskCounter()
        let hook = try hook(judged, .accept, asked)
        let target = try endpoint("localhost", server.port)
        let socket = try TCPConnector.connect(to: target, as: .server, timeout: .seconds(5))
        var handshake = try TLSHandshake(
            context: try TLSContext(TLSClient.Configuration()), socket: socket, target: target, timeout: .seconds(5))
        var failure: HandshakeError?
        do {
            try handshake.run(hook)
        } catch {
            failure = error
        }
        if judged == "localhost" {
            #expect(failure == nil)
            #expect(hook.state == .accepted)
            #expect(asked.count == 1)
        } else {
            #expect(failure?.code == .verifierNotCalled)
            #expect(failure?.isBeforeCertificate == false)
            #expect(hook.state == .failed(.otherName))
            #expect(asked.count == 0)
            #expect(server.waitUntilClosed())
            #expect(server.completedHandshakeCount == 0)
            #expect(server.alertsReceived.filter(\.isFatal).map(\.code) == [80])
        }
        #expect(server.serverNames == ["localhost"])
    }

    @Test(
        "Another notation of the judged name in SNI is accepted, and another name or a part of it is not",
        arguments: [
            ("localhost", "localhost", true), ("localhost", "LocalHost", true), ("localhost", "localhost.", true),
            ("localhost", nil, true), ("127.0.0.1", nil, true), ("127.0.0.1", "127.0.0.1", true),
            ("localhost", "localhos", false), ("localhost", "localhosts", false), ("localhost", "a.localhost", false),
            ("localhost", "no host", false), ("127.0.0.1", "localhost", false),
        ])
    func spelling(judged: String, sent: String?, isSame: Bool) throws {
        let server = try server()
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        let hook = try hook(judged)
        #expect(try connect(client, to: server, naming: sent, hook) == isSame)
        #expect(hook.state == (isSame ? .accepted : .failed(.otherName)))
    }

    // MARK: The context

    @Test("A context that ignores refusals no longer does after hooks are installed", arguments: [true, false])
    func ignoredRefusal(isAccepted: Bool) throws {
        let server = try server()
        let attacked = try BareTLSClient()
        SSL_CTX_set_verify(attacked.context, SSL_VERIFY_NONE, nil)
        SSL_CTX_set_cert_verify_callback(attacked.context, { _, _ in 0 }, nil)
        #expect(try attacked.connect(to: server.port, naming: "localhost"), "the attack")

        let client = try BareTLSClient()
        SSL_CTX_set_verify(client.context, SSL_VERIFY_NONE, nil)
        #expect(VerificationHook.install(on: client.context))
        let hook = try hook("localhost", isAccepted ? .accept : .reject(.unknownCA))
        #expect(try connect(client, to: server, hook) == isAccepted)
        #expect(hook.state == (isAccepted ? .accepted : .rejected(.unknownCA)))
    }

    @Test("A context that writes a key log no longer does after hooks are installed")
    func keyLog() throws {
        let client = try BareTLSClient()
        SSL_CTX_set_keylog_callback(client.context) { _, _ in }
        #expect(SSL_CTX_get_keylog_callback(client.context) != nil, "the attack")
        #expect(VerificationHook.install(on: client.context))
        #expect(SSL_CTX_get_keylog_callback(client.context) == nil)
        #expect(SSL_CTX_get_keylog_callback(try TLSContext(TLSClient.Configuration()).pointer) == nil)
    }

    // MARK: The connection

    @Test("A connection without a hook is refused", arguments: [true, false])
    func hookless(hasHook: Bool) throws {
        let server = try server()
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        let hook = try hook()
        let isConnected = try client.connect(to: server.port, naming: "localhost") { ssl in
            #expect(hook.attach(to: ssl))
            // A second hook does not replace the first.
            #expect((try? self.hook("elsewhere"))?.attach(to: ssl) == false)
            if !hasHook { VerificationHook.detach(from: ssl) }
        }
        #expect(isConnected == hasHook)
        #expect(hook.state == (hasHook ? .accepted : .notAsked))
    }

    @Test("A handshake to which no hook can be attached fails before a verdict", arguments: [true, false])
    func notAttached(isAttachable: Bool) throws {
        let server = try server()
        let target = try endpoint("localhost", server.port)
        let socket = try TCPConnector.connect(to: target, as: .server, timeout: .seconds(5))
        var handshake = try TLSHandshake(
            context: try TLSContext(TLSClient.Configuration()), socket: socket, target: target, timeout: .seconds(5))
        // The connection already has a hook, which must not be replaced.
        if !isAttachable { #expect(try hook().attach(to: handshake.pump.ssl)) }
        let asked = AskCounter()
        let hook = try hook("localhost", .accept, asked)
        var failure: HandshakeError?
        do {
            try handshake.run(hook)
        } catch {
            failure = error
        }
        #expect(failure?.code == (isAttachable ? nil : .noResources))
        #expect(hook.state == (isAttachable ? .accepted : .notAsked) && asked.count == (isAttachable ? 1 : 0))
    }

    @Test("A resumed session is not accepted, because no certificate was judged", arguments: [true, false])
    func resumed(isResumed: Bool) throws {
        var configuration = TLSServerConfiguration(.init(identity))
        configuration.versions = .tls12 ... .tls12
        let server = try LoopbackTLSServer(configuration)
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        #expect(try connect(client, to: server, try hook()))
        let first = try #require(client.ssl)
        let session = SSL_get1_session(first)
        // OpenSSL resumes a session only if the first connection was shut down properly.
        SSL_shutdown(first)
        defer { SSL_SESSION_free(session) }
        let asked = AskCounter()
        let hook = try hook("localhost", .accept, asked)
        let isConnected = try client.connect(to: server.port, naming: "localhost") { ssl in
            if isResumed { #expect(SSL_set_session(ssl, session) == 1, "the attack") }
            #expect(hook.attach(to: ssl))
        }
        #expect(isConnected)
        let ssl = try #require(client.ssl)
        #expect(SSL_session_reused(ssl) == (isResumed ? 1 : 0))
        #expect(asked.count == (isResumed ? 0 : 1))
        #expect(hook.state == (isResumed ? .notAsked : .accepted))
        #expect(VerificationHook.hasAccepted(ssl) == !isResumed)
    }

    @Test("A second chain on an accepted connection revokes the acceptance", arguments: [true, false])
    func askedTwice(isAttacked: Bool) throws {
        let server = try server()
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        let asked = AskCounter()
        let hook = try hook("localhost", .accept, asked)
        #expect(try connect(client, to: server, hook))
        let ssl = try #require(client.ssl)
        #expect(VerificationHook.hasAccepted(ssl))
        if isAttacked {
            let error = try client.withAnotherChain(identity.certificate.der) { store in
                #expect(VerificationHook.answer(store) == 0)
                return X509_STORE_CTX_get_error(store)
            }
            #expect(error == X509_V_ERR_UNSPECIFIED)
        }
        #expect(asked.count == 1)
        #expect(hook.state == (isAttacked ? .failed(.askedTwice) : .accepted))
        #expect(VerificationHook.hasAccepted(ssl) == !isAttacked)
        if !isAttacked {
            SSL_set_verify_result(ssl, Int(X509_V_ERR_UNSPECIFIED))
            #expect(!VerificationHook.hasAccepted(ssl))
        }
    }

    @Test("A second chain on a refused connection does not change the reason and is not reported again")
    func askedTwiceAfterRefusal() throws {
        let server = try server()
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        let observer = StateRecorder()
        let hook = VerificationHook(for: try endpoint("localhost"), observer: observer) { _ in
            .reject(.certificateExpired)
        }
        #expect(try !connect(client, to: server, hook))
        let error = try client.withAnotherChain(identity.certificate.der) { store in
            #expect(VerificationHook.answer(store) == 0)
            return X509_STORE_CTX_get_error(store)
        }
        #expect(error == X509_V_ERR_CERT_HAS_EXPIRED)
        #expect(hook.state == .rejected(.certificateExpired))
        #expect(observer.states == [.rejected(.certificateExpired)])
    }

    @Test(
        "A handshake that cannot be judged ends with internal_error", arguments: HandshakeVerdict.AbortReason.allCases)
    func fault(_ fault: HandshakeVerdict.AbortReason) throws {
        let server = try server()
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        let hook = try hook("localhost", .abort(fault))
        #expect(try !connect(client, to: server, hook))
        #expect(hook.state == .failed(fault))
        let error = fault == .outOfMemory ? X509_V_ERR_OUT_OF_MEM : X509_V_ERR_UNSPECIFIED
        #expect(SSL_get_verify_result(client.ssl) == Int(error))
        #expect(server.wait { $0.first?.alertsReceived.contains { $0.code == 80 } == true })
    }

    @Test("A connection retains its hook until it is freed", arguments: [true, false])
    func lifetime(isDetached: Bool) throws {
        let client = try BareTLSClient()
        #expect(VerificationHook.install(on: client.context))
        let server = try server()
        weak var kept: VerificationHook?
        _ = try client.connect(to: server.port, naming: "localhost") { ssl in
            let hook = try? self.hook()
            kept = hook
            #expect(hook?.attach(to: ssl) == true)
        }
        #expect(kept?.state == .accepted)
        if isDetached, let ssl = client.ssl { VerificationHook.detach(from: ssl) } else { client.end() }
        #expect(kept == nil)
        // OpenSSL does not release the hook again.
        client.end()
    }
}

/// Records the states that a hook reports.
private final class StateRecorder: HandshakeObserver {
    private(set) var states: [VerificationHook.State] = []

    func received(_ message: UnsafeRawBufferPointer, _ contentType: CInt) {}

    func changed(to state: VerificationHook.State) { states.append(state) }
}

/// Counts the calls of a closure.
final class AskCounter {
    var count = 0
}
