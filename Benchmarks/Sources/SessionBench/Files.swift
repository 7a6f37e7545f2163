import Foundation
import PintleTestKit

/// A new folder for the files of the servers and the client.
struct Files {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("session-bench-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(of: name)))
    }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

extension Files {
    /// Debian's file with all roots. Other systems may have it elsewhere.
    private static let roots = "/etc/ssl/certs/ca-certificates.crt"

    /// Mints the servers' identity, and writes its certificates, its key and the roots for the clients.
    func writeIdentity() throws -> Identity {
        guard let system = FileManager.default.contents(atPath: Self.roots) else { stop("no roots in \(Self.roots)") }
        let authority = try CertificateAuthority.root(name: "Bench Root", keyType: .rsa(bits: 4_096))
        let identity = try authority.intermediate(keyType: .rsa2048).issue(hosts: ["localhost"], keyType: .p256)
        // A realistic store: the system's roots and one more.
        try write(Array(system) + Array(authority.certificate.pem.utf8), to: "roots.pem")
        try write(identity.chainPEM, to: "chain.pem")
        try write(identity.key.pem, to: "key.pem")
        try write(identity.certificate.spkiDER, to: "spki.der")
        return identity
    }
}
