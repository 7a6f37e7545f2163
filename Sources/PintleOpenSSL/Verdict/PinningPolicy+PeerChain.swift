package import Pintle

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension PinningPolicy {
    /// Returns the decision about a chain inside a handshake. Uses the certificates that OpenSSL has already parsed.
    package func evaluate(
        _ endpoint: ServerEndpoint, _ chain: borrowing PeerChain, approvals: TrustApprovals = .none, at instant: Date,
        newestKnownTime: Date? = nil, validator: PathValidator
    ) -> TrustEvaluation {
        // A borrowed value cannot be captured. The pointers stay valid, because the chain outlives the closure.
        let leaf = chain.leaf
        let presented = chain.presented
        return evaluate(
            endpoint, presented: chain.certificates, approvals: approvals, at: instant, newestKnownTime: newestKnownTime
        ) { request in
            validator.validate(request, leaf: leaf, presented: presented)
        }
    }
}
