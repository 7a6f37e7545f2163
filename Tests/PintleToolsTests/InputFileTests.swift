import Glibc
import PintlePolicyFile
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyTools
@testable import PintleTools

@Suite("Input files")
struct InputFileTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func policy(including path: String) throws -> String {
        try directory.write(
            #"{"version": 1, "hosts": [{"host": "example.test", "anchors": {"include": ["\#(path)"]}}]}"#,
            to: "policy.json")
    }

    private func makePipe() throws -> String {
        let pipe = directory.path(of: "pipe")
        guard mkfifo(pipe, 0o600) == 0 else { throw SystemCallError(operation: "making a pipe", code: errno) }
        return pipe
    }

    @Test("The tool refuses a pipe or device that a policy names at once, and reads a file, even through a link")
    func namedInPolicy() throws {
        let root = try CertificateAuthority.root().certificate
        try directory.write(root.pem, to: "root.pem")
        #expect(symlink("root.pem", directory.path(of: "link.pem")) == 0)
        for path in ["root.pem", "link.pem"] {
            #expect(ToolRun("lint", try policy(including: path)).code == 0)
        }
        _ = try makePipe()
        for path in ["pipe", "/dev/zero", "/dev/ptmx"] {
            let run = ToolRun("lint", try policy(including: path))
            #expect(run.code == 1)
            #expect(run.output.contains("error: unreadable-anchor-file: "), "\(run.output)")
            #expect(run.output.contains("not a regular file"))
        }
    }

    @Test("An empty name and a key that is too large are named with their reason")
    func unusableNames() throws {
        let empty = ToolRun("lint", "")
        #expect(empty.code == 2 && empty.errors.contains("the name of a file is empty"), "\(empty.errors)")
        let policy = try directory.write("{\"version\": 1, \"hosts\": []}", to: "policy.json")
        let large = try directory.write([UInt8](repeating: 0x20, count: 64 << 10 + 1), to: "large.key")
        let run = ToolRun("sign", "--key", large, "--version", "1", "--expires", "2100-01-01T00:00:00Z", policy)
        #expect(run.code == 2 && run.errors.contains("larger than 64 KiB"), "\(run.errors)")
        let exact = try directory.write([UInt8](repeating: 0x20, count: 64 << 10), to: "exact.key")
        #expect(!ToolRun("verify", "--trusted", exact, exact).errors.contains("larger"))
    }

    @Test("A command in a hint names the file, but not standard input")
    func namedInHint() throws {
        let key = directory.path(of: "my.key")
        let made = try runProcess([
            "openssl", "genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass",
            "pass:secret", "-out", key,
        ])
        try #require(made.status == 0, "\(made.errorOutput)")
        let run = ToolRun("pin", key)
        #expect(run.code == 2 && run.errors.contains("openssl pkey -in \(key) -pubout"), "\(run.errors)")
        #expect(try ToolRun("pin", key, "--json").json()["error"]?["hint"]?.string?.contains("-in \(key) ") == true)
        let piped = ToolRun("pin", "-", input: try directory.read("my.key"))
        #expect(piped.code == 2 && piped.errors.contains("openssl pkey -in FILE -pubout"), "\(piped.errors)")
        // The hint is a command that works.
        let half = try runProcess(["openssl", "pkey", "-in", key, "-passin", "pass:secret", "-pubout"])
        #expect(ToolRun("pin", "-", input: Array(half.output.utf8)).code == 0)
    }

    @Test("The tool reads a pipe that the command line names, as <(...) makes one")
    func namedOnCommandLine() throws {
        let certificate = try Identity.selfSigned().certificate
        let file = try directory.write(certificate.pem, to: "certificate.pem")
        let pipe = try makePipe()
        let writer = try ChildProcess(["sh", "-c", "cat '\(file)' > '\(pipe)'"])
        let run = ToolRun("pin", pipe)
        #expect(run.code == 0)
        #expect(run.output.contains("sha256/"))
        withExtendedLifetime(writer) {}
    }

    @Test("The tool wipes a private key after reading, even beside an unreadable block, but no certificate")
    func wiping() throws {
        let key = try PrivateKey()
        let certificate = try Identity.selfSigned().certificate
        let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        let contents: [(bytes: [UInt8], isSecret: Bool)] = [
            (Array(key.pem.utf8), true), (key.pkcs8DER, true), (Array((key.pem + broken).utf8), true),
            (Array(certificate.pem.utf8), false), (certificate.der, false), (Array(key.publicPEM.utf8), false),
        ]
        for (bytes, isSecret) in contents {
            var file = try InputFile(directory.write(bytes, to: "file"), standardInput: ByteSource([]))
            let place = file.bytes.withUnsafeBytes { $0.baseAddress }
            _ = try? SourceReader.items(in: &file, LinkedLibraries())
            #expect(file.bytes.withUnsafeBytes { $0.baseAddress } == place)
            #expect(file.bytes == (isSecret ? Array(repeating: 0, count: bytes.count) : bytes))
        }
    }
}
