internal import PintleTestKit

extension RehearsalJudge {
    static let lacksHTTP2 = "this client speaks HTTP/1.1"

    /// Returns the reason why an attack would prove nothing about the client; `nil` if it proves something.
    func obstacle(to attack: Attack, for client: ClientCommand) -> String? {
        if attack.needsRequest, !sendsRequest { return "this client sends no request" }
        if attack.needsHTTP2, attack.offered == .http1 { return "--http 1.1 leaves HTTP/2 out" }
        if attack.needsHTTP2, !HTTPVersion.isHTTP2(controlProtocol) { return Self.lacksHTTP2 }
        if attack.needsHTTP1, attack.offered == .http2 { return "--http 2 leaves HTTP/1.1 out" }
        if attack.needsOtherPin, !OtherHostKit.isUsed(by: client) {
            return "this client has no pin for the other host: {other-pin} is one"
        }
        return nil
    }
}
