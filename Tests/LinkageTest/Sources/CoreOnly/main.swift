import FoundationEssentials
import Pintle

// Parses, builds, decides and prints with only the core, to show which libraries it links.
let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=")
let policy = try PinningPolicy { try PinnedHost("example.com", pins: [pin], backup: .noneAccepted) }
let endpoint = ServerEndpoint(host: try ServerName("example.com"))
let evaluator = ServerTrustEvaluator(source: policy) { request in
    .valid(ValidatedPath(uncheckedLeafToAnchor: request.chain.certificates.map(\.der)))
}
let evaluation = evaluator.evaluate(endpoint, presented: [[0x30, 0x00]], at: Date(timeIntervalSince1970: 0))
print(evaluation.decision.reason)
