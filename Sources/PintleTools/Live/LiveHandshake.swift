internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleTLSClient

/// The way to a server: time-outs, proxies, and the address to connect to.
struct LiveHandshake {
    let endpoint: ServerEndpoint
    private let client: TLSClient
    private let target: HandshakeTarget
    private let proxy: ProxyConfiguration

    /// - Throws: an error if the command line or a proxy in the environment cannot be used.
    init(_ endpoint: ServerEndpoint, _ invocation: Invocation) throws(ToolError) {
        let connectTo = try invocation.arguments[.connectTo].map { text throws(ToolError) in
            try HostArgument.endpoint(text, defaultPort: endpoint.port)
        }
        try self.init(
            endpoint, connectTo: connectTo, configuration: Self.configuration(invocation.arguments),
            proxies: try invocation.proxies())
    }

    /// - Parameter proxies: the proxies of the environment; `nil` to connect directly.
    init(
        _ endpoint: ServerEndpoint, connectTo: ServerEndpoint?, configuration: TLSClient.Configuration = .init(),
        proxies: ProxyEnvironment? = nil
    ) throws(ToolError) {
        self.endpoint = endpoint
        do throws(HandshakeError) {
            target = HandshakeTarget(endpoint, connectTo: connectTo)
            proxy = proxies?.proxy(for: endpoint, connectTo: connectTo) ?? .none
            client = try TLSClient(configuration)
        } catch {
            throw ToolError(error)
        }
    }

    /// The result of a handshake.
    struct Outcome {
        /// The certificates as the server sent them, DER, the leaf first; `nil` if none arrived.
        let presented: [[UInt8]]?
        /// The connection, if the certificate was accepted and the handshake ended well.
        let connection: TLSConnection?
        let error: HandshakeError?
    }

    /// Connects and lets `judge` decide about the server's certificates.
    func run(
        authentication: ClientAuthentication? = nil,
        judge: @escaping (borrowing PeerChain) -> HandshakeVerdict
    ) -> Outcome {
        let presented = Kept<[[UInt8]]>()
        do throws(HandshakeError) {
            let connection = try client.connect(to: target, via: proxy, authentication: authentication) { chain in
                presented.value = chain.certificates
                return judge(chain)
            }
            return Outcome(presented: presented.value, connection: connection, error: nil)
        } catch {
            return Outcome(presented: presented.value, connection: nil, error: error)
        }
    }

    /// A value that a closure hands to the function that passed it.
    final class Kept<Value> {
        var value: Value?
    }

    static func configuration(_ arguments: ParsedArguments) -> TLSClient.Configuration {
        var configuration = TLSClient.Configuration()
        if let time = arguments[.connectTimeout] { configuration.connectTimeout = .milliseconds(time) }
        if let time = arguments[.handshakeTimeout] { configuration.handshakeTimeout = .milliseconds(time) }
        return configuration
    }
}

extension Invocation {
    /// Returns a validator whose roots are those of this machine, or of `--anchors`.
    func validator() throws(ToolError) -> PathValidator {
        guard let path = arguments[.anchors] else { return PathValidator() }
        return PathValidator(system: SystemAnchors(replacedBy: try certificates(in: path)))
    }

    /// Reads the proxies of the environment. Warns of exceptions in `NO_PROXY` that cannot be parsed.
    func proxies() throws(ToolError) -> ProxyEnvironment {
        do {
            let proxies = try ProxyEnvironment(environment)
            if let skipped = proxies.skipped { console.warnOnce(skipped) }
            return proxies
        } catch {
            throw ToolError(HandshakeError(error))
        }
    }
}

extension ToolError {
    /// Sets exit code 2 for wrong input, and 3 for a server that did not answer.
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
