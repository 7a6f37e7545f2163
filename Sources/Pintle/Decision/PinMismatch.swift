/// A valid path on which no pin of the rule is: served keys, wanted keys, and what comes nearest.
public struct PinMismatch: Sendable, Hashable {
    public let endpoint: ServerEndpoint
    /// The rule that decided.
    public let rule: RuleChoice
    /// The validated path's public-key pins, leaf first.
    public let servedPins: [PublicKeyPin]
    /// The rule's pins.
    public let pins: [Pin]
    public let backupPins: [Pin]
    /// The likeliest slip.
    public let nearestMiss: NearestMiss

    /// Pins and backup pins, in that order.
    public var configuredPins: [Pin] { pins + backupPins }
}

extension PinMismatch: CustomStringConvertible {
    public var description: String {
        let served = servedPins.map(\.description).joined(separator: ", ")
        let wanted = configuredPins.map(\.description).joined(separator: ", ")
        return """
            no key on the path of \(endpoint) is pinned; served, leaf first: \(served); \
            wanted by the rule for \(rule.pattern): \(wanted); nearest: \(nearestMiss)
            """
    }
}

/// Pins that have passed their date.
public struct PinExpiration: Sendable, Hashable {
    public let endpoint: ServerEndpoint
    public let rule: RuleChoice
    /// Whether the date lies so far back, seen from the newest time ever known, that the clock is more
    /// likely wrong than the app unattended.
    public let isClockSuspicious: Bool
}

extension PinExpiration: CustomStringConvertible {
    public var description: String {
        "the pins of \(rule.pattern) are past their date" + (isClockSuspicious ? ", or the clock is wrong" : "")
    }
}

/// A server that no rule covers and nobody has approved.
public struct UnknownHost: Sendable, Hashable {
    public let endpoint: ServerEndpoint
    /// What a person compares.
    public let leaf: Certificate
    /// Why the system would refuse it; `nil` where the system would trust it.
    public let pathFailure: PathFailure?
}

extension UnknownHost: CustomStringConvertible {
    public var description: String {
        let verdict =
            pathFailure.map { "the system would refuse it: \($0.code.rawValue)" } ?? "the system would trust it"
        return "\(endpoint) is not known; \(verdict); certificate \(leaf.fingerprint)"
    }
}

/// Which rule decides for a host, and how it came to.
public struct RuleChoice: Sendable, Hashable {
    /// Position in ``PinningPolicy/hosts``.
    public let index: Int
    /// The host of the rule, not the server that was asked about.
    public let host: ServerName
    /// The port of the rule; `nil` for every port.
    public let port: UInt16?
    /// Whether the rule names the host itself; otherwise it covers it as a sub-domain.
    public let isExact: Bool

    /// The host and, where it has one, the port of the rule: `example.com:8443`.
    public var pattern: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}
