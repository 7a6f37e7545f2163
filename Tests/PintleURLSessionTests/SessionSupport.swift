import Foundation
import FoundationNetworking
import PintleOpenSSL
import PintleTestKit
import PintleTestPeers
import Synchronization

@testable import PintleURLSession

/// A certificate authority, with servers and policies that belong to it.
struct SessionFixture: Sendable {
    let root: CertificateAuthority
    let identity: Identity

    init() throws {
        root = try .root()
        identity = try root.issue(hosts: ["localhost", "127.0.0.1", "::1"])
    }

    func server(
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(identity, handler: handler)
    }

    /// Returns a server that runs a closure with the decrypted stream.
    func server(stream: @escaping @Sendable (any ByteStream) -> Void) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(identity) { $0.application = .stream(stream) }
    }

    /// Returns a server that answers once the gate opens. A time-out ends the wait if a test never opens it.
    func server(behind gate: DispatchSemaphore) throws -> LoopbackTLSServer {
        try server { _ in
            _ = gate.wait(timeout: .now() + 300)
            return .ok
        }
    }

    /// Returns a server that waits for the gate, then reads `size` bytes and answers.
    func server(reading size: Int, from gate: DispatchSemaphore) throws -> LoopbackTLSServer {
        try server(stream: { stream in
            _ = gate.wait(timeout: .now() + 60)
            var received = 0
            while received < size, let piece = try? stream.read(upTo: 1 << 16), !piece.isEmpty {
                received += piece.count
            }
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        })
    }

    /// Returns a policy with a rule for each host: with the server's pin, or with the pin of another key.
    func policy(
        _ hosts: [String] = ["localhost"], port: UInt16? = nil, rightPin: Bool = true,
        unpinnedHosts: PinningPolicy.UnpinnedHosts = .systemTrust
    ) throws -> PinningPolicy {
        let key = rightPin ? identity.certificate.spkiDER : try PrivateKey().spkiDER
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))
        return try PinningPolicy(
            hosts: hosts.map { host in
                try PinnedHost(host, port: port, pins: [pin], backup: .noneAccepted, anchors: try anchors())
            }, unpinnedHosts: unpinnedHosts)
    }

    /// Returns a policy with rules without pins, so only the path decides.
    func unpinned(_ hosts: [String] = ["localhost"]) throws -> PinningPolicy {
        try PinningPolicy(hosts: hosts.map { try PinnedHost($0, pins: [Pin](), anchors: try anchors()) })
    }

    private func anchors() throws -> TrustAnchors { .only([try Certificate(der: root.certificate.der)]) }
}

extension URLError {
    /// A Boolean value that indicates whether the error holds a verdict. Faults of a server or of the network must not:
    /// an app would blame the server's certificate.
    var isAboutTrust: Bool { TrustRejection(underlying: self) != nil }

    /// The failure of the path, if that is the reason for the refusal.
    var pathFailure: PathFailure? {
        if case .invalidPath(let failure) = TrustRejection(underlying: self) { failure } else { nil }
    }
}

extension LoopbackTLSServer {
    /// Waits for a request without blocking a thread of the pool, which may be the only one.
    func hasRequest() async -> Bool {
        for _ in 0..<500 {
            if !requests.isEmpty { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// Waits for a number of handshakes, because the server counts one a moment later than the client.
    func hasCompletedHandshakes(_ count: Int) async -> Bool {
        for _ in 0..<500 where completedHandshakeCount < count { try? await Task.sleep(for: .milliseconds(10)) }
        return completedHandshakeCount == count
    }

    func address(_ path: String = "", host: String = "localhost") throws -> URL {
        guard let url = URL(string: url(host: host) + path) else { throw URLError(.badURL) }
        return url
    }
}

/// Runs slow work on a thread of its own. The pool has few threads, and every test needs one.
func aside<Product: Sendable>(_ work: @escaping @Sendable () throws -> Product) async throws -> Product {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
}

extension NginxServer {
    func address(_ path: String = "") throws -> URL {
        guard let url = URL(string: "https://localhost:\(port)/\(path)") else { throw URLError(.badURL) }
        return url
    }

    /// Waits for a number of requests, because nginx logs a request after its response.
    func requests(atLeast count: Int) async throws -> [String] {
        for _ in 0..<500 where requests().count < count { try await Task.sleep(for: .milliseconds(10)) }
        return requests()
    }
}

extension URLSession {
    static func pinned(
        to policy: PinningPolicy, options: CurlTransport.Options, delegate: (any URLSessionDelegate)? = nil
    ) -> PinnedURLSession {
        pinned(to: LivePolicy(policy), options: options, delegate: delegate)
    }

    static func pinned(
        to source: some PolicySource, options: CurlTransport.Options, delegate: (any URLSessionDelegate)? = nil
    ) -> PinnedURLSession {
        PinnedURLSession(
            source: source, configuration: .ephemeral, delegate: delegate, delegateQueue: nil, options: options)
    }
}

/// A delegate that records its callbacks in order.
final class Recorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    struct Log {
        var data = Data()
        var error: (any Error)?
        var downloaded: Data?
    }

    let log = Mutex(Log())
    var events: [String] { callbacks.events }
    private let callbacks = CallbackLog()
    private let redirects: @Sendable (URLRequest) -> URLRequest?
    private let disposition: URLSession.ResponseDisposition

    init(
        disposition: URLSession.ResponseDisposition = .allow,
        redirects: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }
    ) {
        self.redirects = redirects
        self.disposition = disposition
    }

    func run(_ task: URLSessionTask) async { await callbacks.run(task) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        callbacks.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.withLock { $0.data.append(data) }
        callbacks.note("data")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        callbacks.note("redirect \(response.statusCode)")
        completionHandler(redirects(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if totalBytesSent == totalBytesExpectedToSend { callbacks.note("sent \(totalBytesSent)") }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        log.withLock { $0.downloaded = try? Data(contentsOf: location) }
        callbacks.note("downloaded")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.withLock { $0.error = error }
        callbacks.noteEnd("complete")
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        callbacks.noteEnd("invalid")
    }
}
