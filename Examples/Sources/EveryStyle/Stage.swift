import Foundation
import PintlePolicyFile
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
    private let folder: URL

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

        folder = FileManager.default.temporaryDirectory.appendingPathComponent("every-style-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        policyFile = folder.appendingPathComponent("policy.json").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: policyFile))
        contentFile = folder.appendingPathComponent("content").path
        try Data(Style.content).write(to: URL(fileURLWithPath: contentFile))
    }

    func removeFiles() throws { try FileManager.default.removeItem(at: folder) }
}
