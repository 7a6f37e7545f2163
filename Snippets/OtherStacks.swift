// Uses a policy to judge servers in another TLS stack.
// The adapter for OpenSSL exists on Linux only.
#if canImport(PintleOpenSSL)
import Foundation
import PintleOpenSSL

func makeEvaluator(_ policy: PinningPolicy) -> ServerTrustEvaluator {
    // snippet.evaluator
    let evaluator = ServerTrustEvaluator(source: policy)
    evaluator.prepare()
    // snippet.end
    return evaluator
}

/// - Parameter chain: the certificates as DER, the leaf first.
func ask(_ evaluator: ServerTrustEvaluator, _ url: URL, _ chain: [[UInt8]]) throws -> Bool {
    // snippet.ask
    // chain: [[UInt8]], certificates as DER, leaf first.
    let server = try ServerEndpoint(url: url)
    let evaluation = evaluator.evaluate(server, presented: chain, at: Date())
    if case .rejected(let rejection) = evaluation.decision { print(rejection) }
    // snippet.end
    return evaluation.decision.isTrusted
}

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
