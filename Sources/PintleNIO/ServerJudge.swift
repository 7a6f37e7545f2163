#if NIO
internal import NIOSSL
internal import Pintle

#if PINTLE_APPLE
internal import PintleApple
#else
internal import PintleOpenSSL
#endif

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Asks the policy about servers. Safe to use from any thread.
struct ServerJudge: Sendable {
    private let source: any PolicySource
    private var evaluator: ServerTrustEvaluator

    init(_ source: some PolicySource) {
        self.source = source
        evaluator = ServerTrustEvaluator(source: source)
    }

    func onFailure(_ handler: @escaping @Sendable (VerdictEvent) -> Void) -> ServerJudge {
        var judge = self
        judge.evaluator = evaluator.onFailure(handler)
        return judge
    }

    /// Reads the roots that the policy needs. Not for event loops.
    func prepare() { evaluator.prepare() }

    /// Returns the verdict on the certificates that a server presents. Not for event loops: it may read files.
    func judge(_ server: ServerEndpoint, _ certificates: [NIOSSLCertificate]) -> ServerVerdict {
        guard let presented = try? certificates.map({ try $0.toDERBytes() }) else {
            let failure = PathFailure(.malformedCertificate, text: "a certificate that BoringSSL cannot encode")
            return .refused(refuse(server, failure))
        }
        let evaluation = evaluator.evaluate(server, presented: presented, at: Date())
        if case .rejected(let rejection) = evaluation.decision { return .refused(rejection) }
        guard let receipt = evaluation.receipt else {
            return .refused(refuse(server, PathFailure(.other, text: "a verdict without a path")))
        }
        return .accepted(receipt)
    }

    /// Refuses a server whose certificates never reached the policy, and reports that.
    func refuse(_ server: ServerEndpoint, _ failure: PathFailure) -> TrustRejection {
        _ = evaluator.refuse(server, failure, at: Date())
        return .invalidPath(failure)
    }

    /// Returns the reason why a connection may carry no further request; `nil` if it may.
    func reason(against receipt: TrustReceipt, at instant: Date) -> TrustEndedEvent.Reason? {
        if source.current.generation != receipt.generation { return .policyChanged }
        return receipt.validFrom <= instant && instant < receipt.validUntil ? nil : .receiptEnded
    }
}

/// The verdict on the server of one channel.
enum ServerVerdict: Sendable {
    case accepted(TrustReceipt)
    case refused(TrustRejection)
    /// The policy was not asked, so the handshake fails.
    case unavailable(PinnedTLSError)

    /// The answer for NIOSSL, with the validated path if BoringSSL can read it.
    var result: NIOSSLVerificationResultWithMetadata {
        guard case .accepted(let receipt) = self else { return .failed }
        let path = try? receipt.path.certificates.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        guard let path, !path.isEmpty else { return .certificateVerified(VerificationMetadata(nil)) }
        return .certificateVerified(VerificationMetadata(ValidatedCertificateChain(path)))
    }
}
#endif
