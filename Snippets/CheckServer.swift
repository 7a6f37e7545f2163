// Connects to a server and lets a policy judge it inside the handshake.

// The adapter for OpenSSL exists on Linux only.
#if canImport(PintleOpenSSL)
import PintleOpenSSL

let policy = try PinningPolicy {
    try PinnedHost(
        "example.com", includingSubdomains: true,
        pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
}
// snippet.connect
let server = ServerEndpoint(host: try ServerName("example.com"))
switch try TLSClient().connect(to: HandshakeTarget(server), checking: policy) {
case .trusted(let connection, _): try connection.write(Array("HEAD / HTTP/1.0\r\n\r\n".utf8))
case .rejected(let evaluation): print(evaluation.decision.reason)  // not a byte was sent
}
// snippet.end
#endif
