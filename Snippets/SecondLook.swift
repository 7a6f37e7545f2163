// Validates the path of a response again, outside of the handshake.

// Only on Linux, because on Apple's systems Foundation has no separate networking module.
#if canImport(PintleURLSession) && canImport(FoundationNetworking)
import Foundation
import PintleURLSession

func load(_ url: URL, over session: PinnedURLSession) async throws -> Data {
    // snippet.require
    let (data, response) = try await session.data(from: url)
    guard let receipt = response.trustReceipt else { throw URLError(.secureConnectionFailed) }
    let issuer = try PublicKeyPin("sha256/5MyVhN0bErb8ghMyw1dTQT5XG26+c+P12A0/6YgEBS4=")
    try receipt.require(minimumPathLength: 3, issuerKey: issuer)
    // snippet.end
    return data
}

func decide(_ chain: [[UInt8]], from server: ServerEndpoint, by evaluator: ServerTrustEvaluator) throws {
    // snippet.evaluation
    let evaluation = evaluator.evaluate(server, presented: chain, at: Date())
    try evaluation.require(minimumPathLength: 3)
    // snippet.end
}
#endif
