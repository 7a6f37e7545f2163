internal import Pintle
internal import PintleOpenSSL

/// How the live commands reach a server: time-outs, proxies, and where to connect to.
struct LiveHandshake {
    let endpoint: ServerEndpoint
    private let client: TLSClient
    private let target: HandshakeTarget
    private let proxy: ProxyConfiguration

    /// - Throws: what of the command line or of the proxies in the environment cannot be used.
    init(_ endpoint: ServerEndpoint, _ invocation: Invocation) throws(ToolError) {
        let connectTo = try invocation.arguments.value(of: .connectTo).map { text throws(ToolError) in
            try HostArgument.endpoint(text, defaultPort: endpoint.port)
        }
        try self.init(
            endpoint, connectTo: connectTo, timeouts: Self.timeouts(invocation.arguments),
            environment: invocation.environment)
    }

    init(
        _ endpoint: ServerEndpoint, connectTo: ServerEndpoint?, timeouts: TLSClient.Timeouts = .init(),
        environment: [String: String]
    ) throws(ToolError) {
        self.endpoint = endpoint
        do throws(HandshakeError) {
            target = HandshakeTarget(endpoint, connectTo: connectTo)
            proxy = try ProxyEnvironment(environment).proxy(for: target)
            client = try TLSClient(TLSClient.Configuration(timeouts: timeouts))
        } catch {
            throw ToolError(error)
        }
    }

    /// What came of a handshake.
    struct Outcome {
        /// DER, as sent, the leaf first; `nil` where no certificate arrived.
        let presented: [[UInt8]]?
        /// The connection, where the certificate was accepted and the handshake ended well.
        let connection: TLSConnection?
        let error: HandshakeError?
    }

    /// Connects and lets `judge` decide about what the server presents.
    func run(judge: @escaping (borrowing PeerChain) -> HandshakeVerdict) -> Outcome {
        let presented = Kept<[[UInt8]]>()
        do throws(HandshakeError) {
            let connection = try client.connect(to: target, via: proxy) { chain in
                presented.value = chain.certificates
                return judge(chain)
            }
            return Outcome(presented: presented.value, connection: connection, error: nil)
        } catch {
            return Outcome(presented: presented.value, connection: nil, error: error)
        }
    }

    /// What a closure leaves behind for the function that passed it.
    final class Kept<Value> {
        var value: Value?
    }

    static func timeouts(_ arguments: ParsedArguments) throws(ToolError) -> TLSClient.Timeouts {
        var timeouts = TLSClient.Timeouts()
        if let duration = try duration(.connectTimeout, arguments) { timeouts.connect = duration }
        if let duration = try duration(.handshakeTimeout, arguments) { timeouts.handshake = duration }
        return timeouts
    }

    private static func duration(
        _ option: OptionSpecification, _ arguments: ParsedArguments
    ) throws(ToolError) -> Duration? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let seconds = Double(text), seconds > 0, seconds <= 3_600 else {
            throw .usage("--\(option.name) takes seconds, more than 0 and at most 3600", of: arguments.command)
        }
        return .milliseconds(Int64((seconds * 1_000).rounded(.up)))
    }
}

extension ToolError {
    /// Exit code 2 for what was asked wrongly, 3 for what did not answer.
    init(_ error: HandshakeError) {
        let isInput =
            switch error.code {
            case .invalidHost, .invalidProxy, .proxyUnsupported, .noResources: true
            default: false
            }
        self.init(
            exitCode: isInput ? .unusable : .unreachable, code: error.code.rawValue, message: error.message,
            hint: error.hint)
    }
}

/// What live commands read from the environment, for their help.
enum LiveEnvironment {
    static let variables: [(name: String, help: String)] = [
        ("HTTPS_PROXY, ALL_PROXY, NO_PROXY", "How servers are reached: http:// (CONNECT), socks4a://, socks5://"),
        ("SSL_CERT_FILE, SSL_CERT_DIR", "Where the roots of this machine are"),
    ]
}
