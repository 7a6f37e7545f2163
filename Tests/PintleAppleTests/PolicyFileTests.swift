import Foundation
import PintleTestKit
import Testing

@testable import PintleURLSession

/// A policy that comes with the app, as a resource or as a file, with its anchors beside it.
@Suite("Apple: a policy from the bundle")
struct PolicyFileTests {
    private let directory: TemporaryDirectory
    private let root: CertificateAuthority

    init() throws {
        directory = try TemporaryDirectory()
        root = try .root()
    }

    private func write(_ anchor: String, to path: String) throws {
        try directory.write(
            """
            {"version": 1, "hosts": [{"host": "localhost", "anchors": {"include": ["\(anchor)"]}}]}
            """, to: path)
    }

    private var app: Bundle {
        get throws { try #require(Bundle(path: directory.path(of: "App"))) }
    }

    private func problems(_ policy: () throws(PolicyError) -> PinningPolicy) -> [String] {
        do throws(PolicyError) {
            _ = try policy()
            return []
        } catch {
            return error.problems.map { "\($0.id) \($0.path)" }
        }
    }

    @Test(
        "A resource is read with the anchors that its paths lead to, or that stand beside it", arguments: [true, false])
    func resource(isFlat: Bool) throws {
        try directory.write(root.certificate.pem, to: isFlat ? "App/private.pem" : "App/roots/private.pem")
        try write("roots/private.pem", to: "App/policy.json")
        let policy = try PinningPolicy(resource: "policy", withExtension: "json", in: try app)
        #expect(policy.hosts.first?.anchors.certificates.map(\.der) == [root.certificate.der])
        #expect(policy.hosts.first?.anchors.includesSystem == false)
    }

    @Test("The file where the path leads goes before one of the same name beside the policy")
    func precedence() throws {
        try directory.write(root.certificate.pem, to: "App/roots/private.pem")
        try directory.write(CertificateAuthority.root(name: "Other").certificate.pem, to: "App/private.pem")
        try write("roots/private.pem", to: "App/policy.json")
        let policy = try PinningPolicy(resource: "policy", withExtension: "json", in: try app)
        #expect(policy.hosts.first?.anchors.certificates.map(\.der) == [root.certificate.der])
    }

    @Test("A resource that is not there, cannot be read, or lacks an anchor says so")
    func mistakes() throws {
        try directory.write("[]", to: "App/list.json")
        try write("roots/private.pem", to: "App/policy.json")
        try write("/nowhere/private.pem", to: "App/absolute.json")
        let app = try app
        func problems(_ name: String) -> [String] {
            self.problems { () throws(PolicyError) in
                try PinningPolicy(resource: name, withExtension: "json", in: app)
            }
        }
        #expect(problems("gone") == ["missing-resource "])
        #expect(problems("list") == ["wrong-type "])
        #expect(problems("policy") == ["unreadable-anchor-file hosts[0].anchors.include[0]"])
        try directory.write(root.certificate.pem, to: "App/private.pem")
        #expect(problems("policy") == [])
        // An absolute path names one file and no other.
        #expect(problems("absolute") == ["unreadable-anchor-file hosts[0].anchors.include[0]"])
        let gone = #expect(throws: PolicyError.self) {
            try PinningPolicy(resource: "gone", withExtension: "json", subdirectory: "policies", in: app)
        }
        #expect(gone?.description.contains("no resource policies/gone.json in ") == true)
        #expect(gone?.description.contains("add the file to the resources of the target") == true)
    }

    @Test("A resource that is a folder is no policy")
    func folder() throws {
        try write("private.pem", to: "App/policy.json/inner.json")
        let app = try app
        #expect(
            problems { () throws(PolicyError) in try PinningPolicy(resource: "policy", withExtension: "json", in: app) }
                == ["unreadable-file "])
    }

    @Test("A file is read with its anchors, relative to its folder and nowhere else")
    func file() throws {
        try write("roots/private.pem", to: "policy.json")
        let path = directory.path(of: "policy.json")
        let read = { () throws(PolicyError) in try PinningPolicy(contentsOfFile: path) }
        #expect(problems(read) == ["unreadable-anchor-file hosts[0].anchors.include[0]"])
        try directory.write(root.certificate.pem, to: "private.pem")
        #expect(problems(read) == ["unreadable-anchor-file hosts[0].anchors.include[0]"])
        try directory.write(root.certificate.pem, to: "roots/private.pem")
        #expect(try read().hosts.first?.anchors.certificates.map(\.der) == [root.certificate.der])
        let gone = directory.path(of: "gone.json")
        #expect(problems { () throws(PolicyError) in try PinningPolicy(contentsOfFile: gone) } == ["unreadable-file "])
    }
}
