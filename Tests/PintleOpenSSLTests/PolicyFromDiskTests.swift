import Pintle
import PintleOpenSSL
import PintlePolicyFile
import PintleStorage
import PintleSuffixes
import PintleTestKit
import Testing

@Suite("A policy from a file")
struct PolicyFromDiskTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(CertificateAuthority.root().certificate.pem, to: "roots/private.pem")
    }

    private func problems(_ host: String, anchor: String = "roots/private.pem") throws -> [String] {
        let path = try directory.write(
            """
            {"version": 1, "hosts": [{"host": "\(host)", "includeSubdomains": true,
                "anchors": {"include": ["\(anchor)"]}}]}
            """, to: "policy.json")
        return Self.problems(path)
    }

    private static func problems(_ path: String) -> [String] {
        do throws(PolicyError) {
            _ = try PinningPolicy(contentsOfFile: path)
            return []
        } catch {
            return error.problems.map(\.id)
        }
    }

    @Test("Anchors are read from beside the policy, and refused for a public suffix")
    func publicSuffix() throws {
        #expect(try problems("example.co.uk") == [])
        #expect(try problems("co.uk") == ["anchors-too-broad"])
        #expect(try problems("example.co.uk", anchor: directory.path(of: "roots/private.pem")) == [])
        #expect(try problems("example.co.uk", anchor: "private.pem") == ["unreadable-anchor-file"])
        #expect(try problems("example.co.uk", anchor: "roots/private.pem\\u0000.pem") == ["unreadable-anchor-file"])
    }

    @Test("Without a list, anchors for sub-domains are refused for names with fewer than three labels")
    func missingList() throws {
        func problems(_ host: String, includesSubdomains: Bool = true) throws -> [String] {
            let pem = try CertificateAuthority.root().certificate.pem.replacing("\n", with: "\\n")
            let text = """
                {"version": 1, "hosts": [{"host": "\(host)", "includeSubdomains": \(includesSubdomains),
                    "anchors": {"include": ["\(pem)"]}}]}
                """
            do throws(PolicyError) {
                _ = try PinningPolicy(
                    json: Array(text.utf8), resolvingFile: nil, isPublicSuffix: PublicSuffixList.missing.contains)
                return []
            } catch {
                return error.problems.map(\.id)
            }
        }
        #expect(try problems("co.uk") == ["anchors-too-broad"])
        #expect(try problems("example.com") == ["anchors-too-broad"])
        #expect(try problems("example.com", includesSubdomains: false) == [])
        #expect(try problems("www.example.com") == [])
    }

    @Test("Only existing regular files are read")
    func regularFiles() throws {
        #expect(Self.problems(directory.path(of: "gone.json")) == ["unreadable-file"])
        #expect(Self.problems(directory.path(of: "roots")) == ["unreadable-file"])
        #expect(Self.problems("/dev/zero") == ["unreadable-file"])
        #expect(try problems("example.test", anchor: "/dev/zero") == ["unreadable-anchor-file"])
        #expect(try problems("example.test") == [])
    }
}
