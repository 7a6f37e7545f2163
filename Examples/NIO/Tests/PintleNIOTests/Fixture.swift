import NIOCore
import NIOPosix
import NIOSSL
import Pintle
import PintleNIO
import PintleStorage
import PintleTestKit

/// A server on loopback, with policies that accept it and refuse it.
struct Fixture {
    let authority: CertificateAuthority
    let server: LoopbackTLSServer
    /// Accepts the server.
    let policy: PinningPolicy
    /// Differs in the pin.
    let otherPolicy: PinningPolicy
    let endpoint: ServerEndpoint

    /// - Parameter hosts: the names in the certificate. The policies are about the first.
    init(
        hosts: [String] = ["localhost"], notAfter: CertificateTime? = nil, includesSystem: Bool = false,
        configure: (inout TLSServerConfiguration) -> Void = { _ in }
    ) throws {
        authority = try .root()
        let identity = try authority.issue(hosts: hosts) { if let notAfter { $0.notAfter = notAfter } }
        server = try LoopbackTLSServer(identity) {
            $0.maximumConnections = 300
            configure(&$0)
        }
        let host = hosts.first ?? ""
        let anchors = TrustAnchors(
            try CertificateBundle(pem: authority.certificate.pem), includesSystem: includesSystem)
        func policy(_ pinned: Identity) throws -> PinningPolicy {
            try PinningPolicy {
                try PinnedHost(
                    host, pins: CertificateBundle(pem: pinned.certificate.pem).publicKeyPins(), backup: .noneAccepted,
                    anchors: anchors)
            }
        }
        self.policy = try policy(identity)
        otherPolicy = try policy(authority.issue(hosts: hosts))
        endpoint = ServerEndpoint(host: try ServerName(host), port: server.port)
    }

    /// Connects a channel with the handlers of TLS, and records its events.
    func connect(
        _ tls: PinnedTLS, on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
    ) async throws -> (channel: any Channel, log: EventLog) {
        try await Self.connect(tls, endpoint, port: server.port, on: loop)
    }

    static func connect(
        _ tls: PinnedTLS, _ endpoint: ServerEndpoint, port: UInt16,
        on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
    ) async throws -> (channel: any Channel, log: EventLog) {
        let log = EventLog()
        let channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls.addHandlers(to: channel, for: endpoint)
                    try channel.pipeline.syncOperations.addHandler(RecordingHandler(log))
                }
            }
            .connect(host: "127.0.0.1", port: Int(port)).get()
        return (channel, log)
    }
}
