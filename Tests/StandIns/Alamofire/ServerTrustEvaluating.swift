public import Security

/// Judges the server behind a trust object; an error is a refusal.
public protocol ServerTrustEvaluating: Sendable {
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}
