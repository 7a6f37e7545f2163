import Foundation
import Pintle
import PintleOpenSSL
import PintlePolicyFile
import PintleStorage
import PintleTLSClient
import PintleURLSession
import PintleUpdates
import Testing

@Suite("Errors in an alert")
struct LocalizedErrorTests {
    @Test("The localizedDescription of an error has its text and its remedy")
    func alerts() throws {
        let attempts: [() throws -> Void] = [
            { _ = try PublicKeyPin("x") }, { _ = try ServerName("*.example.com") },
            { _ = try PinnedHost("example.com", pins: ["x"]) }, { _ = try PinningPolicy(json: []) },
            { _ = try CertificateBundle(pem: "x") }, { _ = try CertificateBundle(contentsOfFile: "/none/x.pem") },
            { _ = try Certificate(der: []) }, { _ = try HandshakeTarget(host: "*.example.com") },
            { _ = try UpdateKey(pem: "x") }, { _ = try UpdateTrust(keys: []) },
            { throw TrustRejection.hostNotAllowed(ServerEndpoint(host: try ServerName("example.com"))) },
        ]
        for attempt in attempts {
            let error = try #require(throws: (any Error).self) { try attempt() }
            #expect(error.localizedDescription == "\(error)")
            #expect(!error.localizedDescription.contains("could not be completed"))
        }
    }
}
