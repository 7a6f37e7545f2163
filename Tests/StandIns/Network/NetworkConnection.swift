public import Security

public enum NWEndpoint: Sendable, Hashable {
    public struct Host: Sendable, Hashable, ExpressibleByStringLiteral {
        public init(stringLiteral name: StringLiteralType) {}
    }

    public struct Port: Sendable, Hashable, ExpressibleByIntegerLiteral {
        public init(integerLiteral number: UInt16) {}
    }

    case hostPort(host: Host, port: Port)
}

/// TLS over TCP, for ``NetworkConnection``.
public struct TLS: Sendable {
    fileprivate var validator: (@isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool)?
    /// A Boolean value that indicates whether the client uses session tickets, which Apple's type does not expose.
    public private(set) var hasTickets = true

    public init() {}

    public func ticketsEnabled(_ enabled: Bool) -> TLS {
        var tls = self
        tls.hasTickets = enabled
        return tls
    }

    public func certificateValidator(
        _ handler: @escaping @isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool
    ) -> TLS {
        var tls = self
        tls.validator = handler
        return tls
    }
}

@resultBuilder public enum ProtocolStackBuilder<Stack> {
    public static func buildBlock(_ stack: Stack) -> Stack { stack }
}

/// A connection that connects nowhere.
public final class NetworkConnection<ApplicationProtocol: Sendable>: Sendable {
    /// The protocols, which Apple's class does not expose.
    public let stack: ApplicationProtocol

    public init(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        stack = builder()
    }
}

extension NetworkConnection where ApplicationProtocol == TLS {
    /// Calls the validator, as the handshake of a connection would. Returns `nil` if none was set.
    public func verify(_ trust: sending SecTrust) async -> Bool? {
        guard let validator = stack.validator else { return nil }
        return await validator(SecProtocolMetadata.make(), SecTrustReference.make(trust))
    }
}
