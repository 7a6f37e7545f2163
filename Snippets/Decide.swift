// Decides about a certificate chain that was recorded or comes from another program.
// The adapter for OpenSSL exists on Linux only.
#if canImport(PintleOpenSSL)
import Foundation
import PintleOpenSSL

/// - Parameter chain: the certificates as DER, the leaf first.
func decide(_ policy: PinningPolicy, _ server: ServerEndpoint, _ chain: [[UInt8]]) {
    // snippet.evaluate
    let evaluation = policy.evaluate(server, presented: chain, at: Date(), validate: PathValidator().validate)
    switch evaluation.decision {
    case .trusted(.pinMatched(let match)): print("\(match.pin) at depth \(match.depth)")
    case .trusted(let basis): print("trusted without a pin: \(basis.reason)")
    case .rejected(.pinMismatch(let mismatch)): print(mismatch)  // served and wanted pins, and the nearest miss
    case .rejected(.invalidPath(let failure)): print(failure.code.rawValue, failure.primary.text)
    case .rejected(let rejection): print(rejection)
    }
    // snippet.end
}
#endif
