public import NIOCore

public enum TLSVersion: Sendable {
    case tlsv1, tlsv11, tlsv12, tlsv13
}

public enum CertificateVerification: Sendable {
    case none, optionalVerification, noHostnameVerification, fullVerification
}

public enum NIORenegotiationSupport: Sendable {
    case none, once, always
}

public struct SignatureAlgorithm: Sendable, Hashable {
    private let value: UInt16

    public static let rsaPkcs1Sha1 = SignatureAlgorithm(value: 0x0201)
    public static let rsaPkcs1Sha256 = SignatureAlgorithm(value: 0x0401)
    public static let rsaPkcs1Sha384 = SignatureAlgorithm(value: 0x0501)
    public static let rsaPkcs1Sha512 = SignatureAlgorithm(value: 0x0601)
    public static let ecdsaSha1 = SignatureAlgorithm(value: 0x0203)
    public static let ecdsaSecp256R1Sha256 = SignatureAlgorithm(value: 0x0403)
    public static let ecdsaSecp384R1Sha384 = SignatureAlgorithm(value: 0x0503)
    public static let rsaPssRsaeSha256 = SignatureAlgorithm(value: 0x0804)
    public static let rsaPssRsaeSha384 = SignatureAlgorithm(value: 0x0805)
    public static let rsaPssRsaeSha512 = SignatureAlgorithm(value: 0x0806)
}

public enum NIOSSLTrustRoots: Sendable {
    case file(String)
    case certificates([NIOSSLCertificate])
    case `default`
}

public enum NIOSSLAdditionalTrustRoots: Sendable {
    case file(String)
    case certificates([NIOSSLCertificate])
}

public struct TLSConfiguration: Sendable {
    public var minimumTLSVersion = TLSVersion.tlsv1
    public var maximumTLSVersion: TLSVersion?
    public var certificateVerification = CertificateVerification.fullVerification
    public var trustRoots: NIOSSLTrustRoots?
    public var additionalTrustRoots: [NIOSSLAdditionalTrustRoots] = []
    public var verifySignatureAlgorithms: [SignatureAlgorithm]?
    public var renegotiationSupport = NIORenegotiationSupport.none
    public var pskClientProvider: (@Sendable () throws -> Void)?

    public static func makeClientConfiguration() -> TLSConfiguration { TLSConfiguration() }
}

public final class NIOSSLContext: Sendable {
    public let configuration: TLSConfiguration

    public init(configuration: TLSConfiguration) throws {
        self.configuration = configuration
    }
}

public enum NIOSSLSerializationFormats: Sendable {
    case pem, der
}

public final class NIOSSLCertificate: Sendable, Hashable {
    private let bytes: [UInt8]

    public init(bytes: [UInt8], format: NIOSSLSerializationFormats) throws {
        self.bytes = bytes
    }

    public func toDERBytes() throws -> [UInt8] { bytes }
    public static func == (left: NIOSSLCertificate, right: NIOSSLCertificate) -> Bool { left.bytes == right.bytes }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

public struct ValidatedCertificateChain: Sendable {
    public init(_ validatedChain: [NIOSSLCertificate]) {}
}

public struct VerificationMetadata: Sendable {
    public init(_ validatedCertificateChain: ValidatedCertificateChain?) {}
}

public enum NIOSSLVerificationResultWithMetadata: Sendable {
    case certificateVerified(VerificationMetadata)
    case failed
}

public final class NIOSSLClientHandler: ChannelHandler {
    public init(
        context: NIOSSLContext, serverHostname: String?,
        customVerificationCallbackWithMetadata:
            @escaping @Sendable (
                [NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>
            ) -> Void
    ) throws {}

    public func handlerAdded(context: ChannelHandlerContext) {}
    public func handlerRemoved(context: ChannelHandlerContext) {}
}

public struct BoringSSLInternalError: Sendable, CustomStringConvertible {
    public var description: String { "" }
}

public enum BoringSSLError: Error {
    case sslError([BoringSSLInternalError])
}

public enum NIOSSLError: Error {
    case handshakeFailed(BoringSSLError)
}
