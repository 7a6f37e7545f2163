import Foundation
import PintleTestKit
import PintleURLSession

/// The right server and an interceptor. The client's anchors trust the certificates of both.
struct Stage {
    let server: LoopbackTLSServer
    let interceptor: LoopbackTLSServer
    let pinned: PinningPolicy
    /// The same policy without pins, as a control.
    let unpinned: PinningPolicy
    /// `pinned` as a policy file.
    let policyFile: String
    /// The content of an upload.
    let contentFile: String
    private let files: TemporaryDirectory

    init() throws {
        let (authority, stranger) = (try CertificateAuthority.root(), try CertificateAuthority.root())
        let identity = try authority.issue(hosts: ["localhost"])
        let answer: @Sendable (HTTPRequest) -> HTTPResponse = { .text("\($0.method) \($0.body.count)") }
        server = try LoopbackTLSServer(identity, handler: answer)
        interceptor = try LoopbackTLSServer(stranger.issue(hosts: ["localhost"]), handler: answer)

        let authorities = authority.certificate.pem + stranger.certificate.pem
        let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)
        let anchors = #""anchors": {"include": ["\#(authorities.replacing("\n", with: "\\n"))"]}"#
        let terms = #""pins": ["\#(pin)"], "backupPins": "none-accepted""#
        let text = #"{"version": 1, "hosts": [{"host": "localhost", \#(terms), \#(anchors)}]}"#
        pinned = try PinningPolicy(json: Array(text.utf8))
        unpinned = try PinningPolicy(
            json: Array(#"{"version": 1, "hosts": [{"host": "localhost", \#(anchors)}]}"#.utf8))

        files = try TemporaryDirectory()
        policyFile = try files.write(text, to: "policy.json")
        contentFile = try files.write(Array(Style.content), to: "content")
    }
}
