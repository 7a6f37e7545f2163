// Makers for the stand-in of Network.framework. In Apple's modules only a handshake makes these objects.
extension SecTrustReference {
    public static func make(_ trust: sending SecTrust) -> sending SecTrustReference { SecTrustReference(trust) }
}

extension SecProtocolMetadata {
    public static func make() -> sending SecProtocolMetadata { SecProtocolMetadata() }
}
