package import Pintle

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension PinningPolicy {
    /// Decides about a chain inside a handshake, on the certificates that OpenSSL has parsed already.
    package func evaluate(
        _ endpoint: ServerEndpoint, _ chain: borrowing PeerChain, approvals: TrustApprovals = .none, at instant: Date,
        newestKnownTime: Date? = nil, validator: PathValidator
    ) -> TrustEvaluation {
        // The closure does not outlive this call, and the chain does; a borrowed value cannot be captured.
        let leaf = chain.leaf
        let presented = chain.presented
        return evaluate(
            endpoint, presented: chain.certificates, approvals: approvals, at: instant, newestKnownTime: newestKnownTime
        ) { request in
            validator.validate(request, leaf: leaf, presented: presented)
        }
    }
}
