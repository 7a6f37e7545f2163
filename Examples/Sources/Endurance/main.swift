// Measures what a pinned session uses: many concurrent requests without a thread for each, sessions that leave nothing
// behind, and a gibibyte in both directions, also encoded, in constant memory. The server is this program. The client
// is a separate process, so that only the client's resources are counted. Exits with 1 if a result is not as expected.
//
//     Endurance [MEBIBYTES]
import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession

if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "client" {
    try await Client(CommandLine.arguments.dropFirst(2).map { $0 }).run()
} else {
    try serve(mebibytes: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_024)
}

func serve(mebibytes: Int) throws {
    let authority = try CertificateAuthority.root()
    let identity = try authority.issue(hosts: ["localhost"])
    let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)
    let anchors = #"{"include": ["\#(authority.certificate.pem.replacing("\n", with: "\\n"))"]}"#
    let rule = #"{"host": "localhost", "pins": ["\#(pin)"], "backupPins": "none-accepted", "anchors": \#(anchors)}"#
    let crowd = Crowd(of: Client.requestsAtOnce)
    let server = try LoopbackTLSServer(identity) { configuration in
        configuration.maximumConnections = 2 * Client.requestsAtOnce
        configuration.serve { Service(crowd: crowd, size: mebibytes << 20).run($0) }
    }
    let client = try Process.run(
        URL(fileURLWithPath: CommandLine.arguments[0]),
        arguments: ["client", server.url(), #"{"version": 1, "hosts": [\#(rule)]}"#, "\(mebibytes << 20)"])
    client.waitUntilExit()
    exit(client.terminationStatus)
}
