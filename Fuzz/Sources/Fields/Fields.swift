@testable import PintleURLSession

/// The response fields that a pinned session reads. The number of challenges is bounded, and their names are tokens.
/// The answer to a challenge has a challenge's syntax with the server's values.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let challenges = AuthenticationChallenges(lines).all
    guard challenges.count <= AuthenticationChallenges.limit else { fatalError("more challenges than the limit") }
    for challenge in challenges {
        let names = [challenge.scheme] + challenge.parameters.keys
        guard names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(HeaderToken.isByte) }) else {
            fatalError("a name that is no token in \(challenge)")
        }
        guard let digest = DigestChallenge(challenge) else { continue }
        guard
            let answer = digest.answer(
                user: "a\"b", password: "c", method: "GET", target: "/?d=\"e\\", count: .max, clientNonce: "0f")
        else { continue }
        guard let again = AuthenticationChallenges([answer]).all.first, again.scheme == "digest",
            again.parameters["nonce"] == digest.nonce, again.parameters["realm"] == digest.realm,
            again.parameters["username"] == "a\"b", again.parameters["nc"] ?? "ffffffff" == "ffffffff"
        else { fatalError("\(answer) reads as something else") }
    }
    return 0
}
