internal import Glibc
package import PintleTestKit

/// `openssl s_server` on a free loopback port. It answers every request with a status page and logs each alert that it
/// receives.
package final class SServer {
    package let port: UInt16
    private let files: TemporaryDirectory
    private let process: ChildProcess

    package struct NotStarted: Error {
        package let output: String
    }

    /// Starts a server that presents `other` to clients that send this name in SNI.
    package convenience init(_ identity: Identity, forName name: String, _ other: Identity) throws {
        let files = try TemporaryDirectory()
        let certificate = try files.write(other.certificate.pem, to: "certificate2.pem")
        let key = try files.write(other.key.pem, to: "key2.pem")
        try self.init(
            identity, ["-servername", name, "-cert2", certificate, "-key2", key], in: files)
    }

    package convenience init(
        _ identity: Identity, host: String = "127.0.0.1", _ options: [String] = [], in files: TemporaryDirectory? = nil
    ) throws {
        try self.init(
            certificate: identity.certificate.pem, issuers: identity.issuers.dropLast().map(\.pem).joined(),
            key: identity.key.pem, host: host, options, in: files)
    }

    /// Starts a server with PEM texts.
    package init(
        certificate: String, issuers: String, key: String, host: String = "127.0.0.1", _ options: [String] = [],
        in files: TemporaryDirectory? = nil
    ) throws {
        self.files = try files ?? TemporaryDirectory()
        let files = self.files
        let leaf = try files.write(certificate, to: "leaf.pem")
        let chain = issuers.isEmpty ? [] : ["-cert_chain", try files.write(issuers, to: "chain.pem")]
        let key = try files.write(key, to: "key.pem")
        let output = files.path(of: "output")
        process = try ChildProcess(
            ["openssl", "s_server", "-accept", "\(host):0", "-cert", leaf, "-key", key, "-www"] + chain + options,
            outputFile: output)
        var port: UInt16?
        for _ in 0..<1_000 where port == nil && process.status == nil {
            port = (try? files.read("output")).flatMap(Self.port)
            if port == nil { usleep(10_000) }
        }
        guard let port else {
            throw NotStarted(output: String(decoding: (try? files.read("output")) ?? [], as: UTF8.self))
        }
        self.port = port
    }

    /// Waits up to five seconds until the output contains `text`, and returns the output.
    package func output(with text: String) throws -> String {
        var output = ""
        for _ in 0..<500 {
            output = String(decoding: try files.read("output"), as: UTF8.self)
            if output.contains(text) { break }
            usleep(10_000)
        }
        return output
    }

    /// Returns the port in the line `ACCEPT 127.0.0.1:34567`.
    private static func port(in output: [UInt8]) -> UInt16? {
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropLast() where line.hasPrefix("ACCEPT ") {
            return line.split(separator: ":").last.flatMap { UInt16($0) }
        }
        return nil
    }
}
