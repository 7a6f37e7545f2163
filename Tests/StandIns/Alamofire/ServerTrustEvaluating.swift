import Security

/// An evaluator of the server behind a trust object. It refuses the server by throwing an error.
public protocol ServerTrustEvaluating: Sendable {
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}
