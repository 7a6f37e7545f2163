internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintleSystem
internal import PintleTLSClient
internal import PintleTestKit

/// One server, the policy of an app that connects to it, and how it must end.
struct DemoScene {
    /// `nil` for the twin of the scene before it.
    let number: Int?
    let title: String
    let endpoint: ServerEndpoint
    let identity: Identity
    let policy: PinningPolicy
    /// The roots that this machine trusts during the demonstration.
    let anchors: [Certificate]
    /// A Boolean value that indicates whether the server is an interceptor or another stranger.
    var isInterception = false
    let expected: DemoVerdict
    /// The app's reaction to a failure, in words, and whether it is right.
    var aftermath: ((VerdictEvent) throws(ToolError) -> (text: String, isAsExpected: Bool))?
    /// The remark about the result.
    let remark: (DemoResult) -> String

    /// The request of an app, which an interceptor would like to read.
    private var request: [UInt8] {
        Array("GET /account HTTP/1.1\r\nHost: \(endpoint.host)\r\nAuthorization: Bearer secret\r\n\r\n".utf8)
    }

    /// Starts the server, connects, and sends the request over the connection if there is one.
    func run(at instant: Date) throws(ToolError) -> DemoResult {
        let server = try Self.server(identity)
        defer { server.close() }
        let validator = PathValidator(system: SystemAnchors(replacedBy: anchors))
        let loopback = try HostArgument.endpoint("127.0.0.1:\(server.port)")
        // Ignores the environment, because a proxy would send the connection elsewhere.
        let handshake = try LiveHandshake(endpoint, connectTo: loopback)
        let verdict = LiveVerdict(of: endpoint, by: policy, validator: validator, instant: instant)
        let facts = try verdict.facts(of: handshake)
        if let connection = facts.connection { try exchange(over: connection) }
        // The count of the server, after it has seen the end of the connection.
        _ = server.waitUntilClosed()
        var result = DemoResult(scene: self, decision: facts.decision, requestBytes: server.requestByteCount)
        if let aftermath, let failure = VerdictEvent(facts.evaluation, by: policy, at: instant) {
            result.aftermath = try aftermath(failure)
        }
        return result
    }

    /// Starts a server on loopback.
    static func server(
        _ identity: Identity, handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws(ToolError) -> LoopbackTLSServer {
        do {
            return try LoopbackTLSServer(identity, handler: handler)
        } catch {
            throw .unusable("no-server", "a server cannot be started on loopback: \(error)")
        }
    }

    private func exchange(over connection: TLSConnection) throws(ToolError) {
        defer { connection.close() }
        do {
            try connection.write(request)
            _ = try connection.read()
        } catch {
            throw ToolError(error)
        }
    }
}

/// The part of a decision that a scene names in advance.
enum DemoVerdict: Equatable {
    case trusted(TrustDecision.Reason)
    case rejected(TrustDecision.Reason)

    init(_ decision: TrustDecision) { self = decision.isTrusted ? .trusted(decision.code) : .rejected(decision.code) }

    var text: String {
        switch self {
        case .trusted(let code): "trusted \(code.rawValue)"
        case .rejected(let code): "rejected \(code.rawValue)"
        }
    }
}

/// The end of a scene.
struct DemoResult {
    let scene: DemoScene
    let decision: TrustDecision
    /// Application bytes that the server received.
    let requestBytes: Int
    var aftermath: (text: String, isAsExpected: Bool)?

    var verdict: DemoVerdict { DemoVerdict(decision) }

    /// A Boolean value that indicates whether the verdict is the expected one, a request was sent only to a trusted
    /// server, and the app's reaction was right.
    var isAsExpected: Bool {
        verdict == scene.expected && decision.isTrusted == (requestBytes > 0)
            && (aftermath?.isAsExpected ?? (scene.aftermath == nil))
    }
}
