// Lets a policy judge the servers of a TLS stack that is not ours.
import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Stand-ins with the shape of what SwiftNIO SSL declares, since no other package is fetched here.
struct NIOSSLCertificate {
    let der: [UInt8]
    func toDERBytes() throws -> [UInt8] { der }
}

enum NIOSSLVerificationResult {
    case certificateVerified, failed
}

enum NIOSSLVerificationResultWithMetadata {
    case certificateVerified(VerificationMetadata)
    case failed
}

struct VerificationMetadata {
    init(_ validatedCertificateChain: [NIOSSLCertificate]?) {}
}

struct EventLoopPromise<Value> {
    func succeed(_ value: Value) {}
}

enum TLSVersion {
    case tlsv1, tlsv11, tlsv12, tlsv13
}

struct TLSConfiguration {
    var minimumTLSVersion = TLSVersion.tlsv1
    static func makeClientConfiguration() -> TLSConfiguration { TLSConfiguration() }
}

struct NIOSSLContext {
    init(configuration: TLSConfiguration) throws {}
}

struct NIOSSLClientHandler {
    init(
        context: NIOSSLContext, serverHostname: String?,
        customVerificationCallback: @escaping ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResult>) -> Void
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

/// - Parameter chain: certificates, DER, the leaf first.
func ask(_ evaluator: ServerTrustEvaluator, _ chain: [[UInt8]]) throws -> Bool {
    // snippet.ask
    let server = ServerEndpoint(host: try ServerName("example.com"), port: 443)
    let evaluation = evaluator.evaluate(server, presented: chain, at: Date())
    if case .rejected(let rejection) = evaluation.decision { print(rejection) }
    // snippet.end
    return evaluation.decision.isTrusted
}

// snippet.nio
func clientContext() throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    // NIOSSL's own minimum is TLS 1.0.
    configuration.minimumTLSVersion = .tlsv12
    return try NIOSSLContext(configuration: configuration)
}

func clientHandler(
    for server: ServerEndpoint, _ evaluator: ServerTrustEvaluator, _ context: NIOSSLContext
) throws -> NIOSSLClientHandler {
    // SNI carries names only, never an address.
    let name = server.host.isIPAddress ? nil : server.host.description
    return try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, promise in
        do {
            let presented = try certificates.map { try $0.toDERBytes() }
            let evaluation = evaluator.evaluate(server, presented: presented, at: Date())
            promise.succeed(evaluation.decision.isTrusted ? .certificateVerified : .failed)
        } catch {
            promise.succeed(.failed)
        }
    }
}
// snippet.end

// snippet.grpc
func verificationCallback(
    for server: ServerEndpoint, _ evaluator: ServerTrustEvaluator
) -> @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>) -> Void {
    { certificates, promise in
        do {
            let presented = try certificates.map { try $0.toDERBytes() }
            let evaluation = evaluator.evaluate(server, presented: presented, at: Date())
            promise.succeed(evaluation.decision.isTrusted ? .certificateVerified(VerificationMetadata(nil)) : .failed)
        } catch {
            promise.succeed(.failed)
        }
    }
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
