import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@Suite("Files of certificates")
struct CertificateFilesTests {
    private let directory: TemporaryDirectory
    private let roots: [MintedCertificate]

    init() throws {
        directory = try TemporaryDirectory()
        roots = try (1...3).map { try CertificateAuthority.root(name: "Root \($0)").certificate }
        try directory.write("# first\n" + roots[0].pem + roots[1].pem, to: "roots/a.pem")
        try directory.write(roots[2].der, to: "roots/b.der")
    }

    private func problems(_ read: () throws(CertificateBundleError) -> CertificateBundle) -> [String] {
        do throws(CertificateBundleError) {
            _ = try read()
            return []
        } catch {
            return error.problems.map { problem in
                let name = problem.file?.split(separator: "/").last.map(String.init) ?? "?"
                return "\(name) \(problem.block.map { "\($0) " } ?? "")\(problem.message)"
            }
        }
    }

    private func folderProblems() -> [String] {
        problems { () throws(CertificateBundleError) in
            try CertificateBundle(contentsOfFolder: directory.path(of: "roots"))
        }
    }

    @Test("PEM with other text, DER and a folder of both are read completely and in order")
    func reads() throws {
        let file = directory.path(of: "roots/a.pem")
        #expect(
            try CertificateBundle(contentsOfFile: file).certificates.map(\.der) == roots.prefix(2).map(\.der))
        let all = roots.map(\.der)
        #expect(try CertificateBundle(contentsOfFolder: directory.path(of: "roots")).certificates.map(\.der) == all)
        #expect(try CertificateBundle(contentsOfFolder: directory.path(of: "roots/")).certificates.map(\.der) == all)
        let files = ["roots/b.der", "roots/a.pem"].map(directory.path)
        #expect(
            try CertificateBundle(contentsOfFiles: files).certificates.map(\.der) == [all[2], all[0], all[1]])
    }

    @Test("A duplicate certificate is taken once, symbolic links are followed, and hidden files are ignored")
    func duplicates() throws {
        try directory.write(roots[0].pem, to: "roots/again")
        try directory.write("not a certificate", to: "roots/.hidden")
        #expect(symlink("b.der", directory.path(of: "roots/12345678.0")) == 0)
        let bundle = try CertificateBundle(contentsOfFolder: directory.path(of: "roots"))
        #expect(bundle.certificates.map(\.der) == [roots[2], roots[0], roots[1]].map(\.der))
    }

    @Test("Every file in a folder must contain only certificates, and the error names file and block")
    func nothingPassedOver() throws {
        #expect(folderProblems() == [])
        try directory.write("remember to renew", to: "roots/README")
        try directory.write(roots[0].pem + PEM.encode([1, 2, 3]), to: "roots/c.pem")
        try directory.write(try PrivateKey().pem, to: "roots/key.pem")
        try directory.write(Array(roots[1].der.dropLast(5)), to: "roots/short.der")
        let found = folderProblems()
        #expect(found.map { $0.prefix { $0 != " " } } == ["README", "c.pem", "key.pem", "short.der"])
        #expect(found.first == "README no certificate in it")
        #expect(found[1].hasPrefix("c.pem 2 not a certificate: "))
        #expect(found[2] == "key.pem 1 a PRIVATE KEY, not a CERTIFICATE")
        #expect(found[3].hasPrefix("short.der not a certificate: "))
    }

    @Test("A nested folder, a dangling link and a pipe are errors with names, and none blocks")
    func notFiles() throws {
        try directory.write(roots[0].pem, to: "roots/inner/a.pem")
        #expect(symlink("gone", directory.path(of: "roots/link.pem")) == 0)
        #expect(mkfifo(directory.path(of: "roots/pipe.pem"), 0o600) == 0)
        #expect(
            folderProblems() == [
                "inner not a regular file", "link.pem no such file or directory", "pipe.pem not a regular file",
            ])
    }

    @Test("A file or folder that is missing, empty or of the wrong kind is an error with its name")
    func missing() throws {
        try directory.write("", to: "empty.pem")
        #expect(mkdir(directory.path(of: "nothing"), 0o700) == 0)
        let file = { [directory] (name: String) in
            problems { () throws(CertificateBundleError) in
                try CertificateBundle(contentsOfFile: directory.path(of: name))
            }
        }
        let folder = { [directory] (name: String) in
            problems { () throws(CertificateBundleError) in
                try CertificateBundle(contentsOfFolder: directory.path(of: name))
            }
        }
        #expect(file("gone.pem") == ["gone.pem no such file or directory"])
        #expect(file("empty.pem") == ["empty.pem no certificate in it"])
        #expect(file("roots") == ["roots not a regular file"])
        #expect(folder("gone") == ["gone no such file or directory"])
        #expect(folder("nothing") == ["nothing no file in it"])
        #expect(folder("empty.pem") == ["empty.pem not a directory"])
        #expect(file("a\0b") == ["a\0b the name has a NUL in it"])
        #expect(folder("roots\0") == ["roots\0 the name has a NUL in it"])
        #expect(problems { () throws(CertificateBundleError) in try CertificateBundle(contentsOfFiles: []) }.count == 1)
        #expect(file("roots/a.pem") == [] && folder("roots") == [])
    }

    @Test("The error has the file, the block, the line and the remedy")
    func text() throws {
        let path = try directory.write(roots[0].pem + (try PrivateKey().pem), to: "both.pem")
        let error = #expect(throws: CertificateBundleError.self) { try CertificateBundle(contentsOfFile: path) }
        let line = roots[0].pem.count(where: { $0 == "\n" }) + 1
        #expect(
            error?.description
                == "\(path): block 2, line \(line): a PRIVATE KEY, not a CERTIFICATE; keep only certificates in the file"
        )
    }
}
