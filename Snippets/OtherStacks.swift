// Uses a policy to judge servers in another TLS stack.
import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Stand-ins with the declarations of SwiftNIO SSL, because this package fetches no other package.
enum NIOSSLSerializationFormats {
    case pem, der
}

final class NIOSSLCertificate {
    private let der: [UInt8]
    init(bytes: [UInt8], format: NIOSSLSerializationFormats) throws { der = bytes }
    func toDERBytes() throws -> [UInt8] { der }
}

struct ValidatedCertificateChain {
    init(_ validatedChain: [NIOSSLCertificate]) {}
}

enum NIOSSLVerificationResultWithMetadata {
    case certificateVerified(VerificationMetadata)
    case failed
}

struct VerificationMetadata {
    init(_ validatedCertificateChain: ValidatedCertificateChain?) {}
}

struct EventLoopPromise<Value> {
    func succeed(_ value: Value) {}
}

struct NIOSSLContext {}

struct NIOSSLClientHandler {
    init(
        context: NIOSSLContext, serverHostname: String?,
        customVerificationCallbackWithMetadata:
            @escaping (
                [NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>
            ) -> Void
    ) throws {}
}

// The adapter for OpenSSL exists on Linux only.
#if canImport(PintleOpenSSL)
import PintleOpenSSL

func makeEvaluator(_ policy: PinningPolicy) -> ServerTrustEvaluator {
    // snippet.evaluator
    let evaluator = ServerTrustEvaluator(policy: policy)
    // snippet.end
    return evaluator
}

/// - Parameter chain: the certificates as DER, the leaf first.
func ask(_ evaluator: ServerTrustEvaluator, _ chain: [[UInt8]]) throws -> Bool {
    // snippet.ask
    let server = ServerEndpoint(host: try ServerName("example.com"), port: 443)
    let evaluation = evaluator.evaluate(server, presented: chain, at: Date())
    if case .rejected(let rejection) = evaluation.decision { print(rejection) }
    // snippet.end
    return evaluation.decision.isTrusted
}

// snippet.callback
func verificationCallback(
    for server: ServerEndpoint, _ evaluator: ServerTrustEvaluator
) -> @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>) -> Void {
    { certificates, promise in
        do {
            let presented = try certificates.map { try $0.toDERBytes() }
            let evaluation = evaluator.evaluate(server, presented: presented, at: Date())
            let path = try evaluation.path?.certificates.map { try NIOSSLCertificate(bytes: $0, format: .der) }
            let metadata = VerificationMetadata(path.map(ValidatedCertificateChain.init))
            promise.succeed(evaluation.decision.isTrusted ? .certificateVerified(metadata) : .failed)
        } catch {
            promise.succeed(.failed)  // such as a certificate that cannot be read
        }
    }
}
// snippet.end

// snippet.nio
func clientHandler(
    for server: ServerEndpoint, _ evaluator: ServerTrustEvaluator, _ context: NIOSSLContext
) throws -> NIOSSLClientHandler {
    // SNI carries names only, never an address.
    let name = server.host.isIPAddress ? nil : server.host.description
    return try NIOSSLClientHandler(
        context: context, serverHostname: name,
        customVerificationCallbackWithMetadata: verificationCallback(for: server, evaluator))
}
// snippet.end

func pin(_ chain: [[UInt8]]) throws {
    // snippet.pinner
    let pinner = try PublicKeyPinner(
        pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
    switch try pinner.validate(chain, host: "example.com", at: Date()) {
    case .trusted: print("go on")
    case .rejected(let rejection): print(rejection)
    }
    // snippet.end
}
#endif
