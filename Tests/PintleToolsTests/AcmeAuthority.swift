import PintleTestKit

/// A test authority that speaks ACME (RFC 8555): Debian's pebble on free loopback ports, asked by Debian's acme-tiny.
/// It believes that every client controls every name.
final class AcmeAuthority {
    /// The certificates of one order, as PEM.
    struct Issued {
        let leaf: String
        /// The intermediate certificate.
        let above: String
    }

    struct Failure: Error {
        let message: String
    }

    /// The root certificate as PEM.
    let root: String
    private let directory: TemporaryDirectory
    private let number: Int
    private let port: UInt16
    private let process: ChildProcess
    private var orders = 0

    static var isInstalled: Bool {
        ["pebble", "acme-tiny"].allSatisfy { name in
            (try? runProcess(["sh", "-c", "command -v \(name)"]).status) == 0
        }
    }

    /// Starts the authority with a root and an intermediate of its own.
    init(in directory: TemporaryDirectory, number: Int) throws {
        (self.directory, self.number) = (directory, number)
        let authority = try CertificateAuthority.root(name: "API")
        let identity = try authority.issue(hosts: ["localhost"])
        let certificate = try directory.write(identity.certificate.pem, to: "api-\(number).pem")
        let key = try directory.write(identity.key.pem, to: "api-\(number).key")
        try directory.write(authority.certificate.pem, to: "api-root-\(number).pem")
        try directory.write(try PrivateKey(.rsa2048).pem, to: "account-\(number).key")
        // Another process can take a free port before pebble does. Then try other ports.
        var started: (port: UInt16, management: UInt16, process: ChildProcess)?
        for _ in 0..<5 where started == nil {
            let servers = try (0..<2).map { _ in try LoopbackTCPServer { _ in } }
            let (port, management) = (servers[0].port, servers[1].port)
            let configuration = try directory.write(
                """
                {"pebble": {"listenAddress": "127.0.0.1:\(port)", "managementListenAddress": "127.0.0.1:\(management)",
                  "certificate": "\(certificate)", "privateKey": "\(key)", "httpPort": 5002, "tlsPort": 5001,
                  "certificateValidityPeriod": 7776000}}
                """, to: "pebble-\(number).json")
            for server in servers { server.close() }
            let process = try ChildProcess(
                ["pebble", "-config", configuration],
                environment: [
                    "PEBBLE_VA_ALWAYS_VALID": "1", "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0",
                    "PEBBLE_AUTHZREUSE": "100",
                ], outputFile: directory.path(of: "pebble-\(number).log"))
            if process.waitUntilListening(on: port), process.waitUntilListening(on: management) {
                started = (port, management, process)
            }
        }
        guard let started else {
            throw Failure(message: String(decoding: (try? directory.read("pebble-\(number).log")) ?? [], as: UTF8.self))
        }
        (port, process) = (started.port, started.process)
        let answer = try runProcess([
            "curl", "-sS", "--cacert", directory.path(of: "api-root-\(number).pem"),
            "https://localhost:\(started.management)/roots/0",
        ])
        guard answer.status == 0 else { throw Failure(message: answer.errorOutput) }
        root = answer.output
    }

    /// Orders a certificate for `example.test` with this key.
    func issue(for key: PrivateKey) throws -> Issued {
        orders += 1
        let name = "order-\(number)-\(orders)"
        let keyFile = try directory.write(key.pem, to: "\(name).key")
        let request = directory.path(of: "\(name).csr")
        let made = try runProcess([
            "openssl", "req", "-new", "-key", keyFile, "-subj", "/CN=example.test", "-addext",
            "subjectAltName=DNS:example.test", "-out", request,
        ])
        guard made.status == 0 else { throw Failure(message: made.errorOutput) }
        let answer = try runProcess(
            [
                "acme-tiny", "--quiet", "--account-key", directory.path(of: "account-\(number).key"), "--csr", request,
                "--acme-dir", directory.path, "--directory-url", "https://localhost:\(port)/dir", "--disable-check",
            ], environment: ["SSL_CERT_FILE": directory.path(of: "api-root-\(number).pem")])
        let end = "-----END CERTIFICATE-----\n"
        guard answer.status == 0, let split = answer.output.firstRange(of: end) else {
            throw Failure(message: answer.errorOutput)
        }
        return Issued(
            leaf: String(answer.output[..<split.upperBound]), above: String(answer.output[split.upperBound...]))
    }
}
