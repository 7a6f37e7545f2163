import Foundation
import PintleResources
import PintleStorage
import PintleTestKit
import PintleURLSession
import Testing

/// Tests policies that ship with the app as a resource or file, with their anchors next to them.
@Suite("Policies in an app bundle")
struct PolicyResourceTests {
    private let directory: TemporaryDirectory
    private let root: CertificateAuthority

    init() throws {
        directory = try TemporaryDirectory()
        root = try .root()
    }

    private func write(_ anchors: String..., to path: String) throws {
        let list = anchors.map { "\"\($0)\"" }.joined(separator: ", ")
        try directory.write(
            """
            {"version": 1, "hosts": [{"host": "localhost", "anchors": {"include": [\(list)]}}]}
            """, to: path)
    }

    private func resource() throws -> PinningPolicy {
        try PinningPolicy(resource: "policy", withExtension: "json", in: try app)
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
        "A resource is read with the anchors at their paths or next to the policy", arguments: [true, false])
    func resource(isFlat: Bool) throws {
        try directory.write(root.certificate.pem, to: isFlat ? "App/private.pem" : "App/roots/private.pem")
        try write("roots/private.pem", to: "App/policy.json")
        let policy = try PinningPolicy(resource: "policy", withExtension: "json", in: try app)
        #expect(policy.hosts.first?.anchors.certificates.map(\.der) == [root.certificate.der])
        #expect(policy.hosts.first?.anchors.includesSystem == false)
    }

    @Test("A file at its path takes precedence over one of the same name next to the policy")
    func precedence() throws {
        try directory.write(root.certificate.pem, to: "App/roots/private.pem")
        try directory.write(CertificateAuthority.root(name: "Other").certificate.pem, to: "App/private.pem")
        try write("roots/private.pem", to: "App/policy.json")
        let policy = try PinningPolicy(resource: "policy", withExtension: "json", in: try app)
        #expect(policy.hosts.first?.anchors.certificates.map(\.der) == [root.certificate.der])
    }

    @Test(
        "A file that exists but cannot be read is an error, even with a file of that name next to the policy",
        arguments: [true, false])
    func unreadable(isThere: Bool) throws {
        // Create a folder in place of the file.
        if isThere { try directory.write("", to: "App/roots/private.pem/file") }
        try directory.write(root.certificate.pem, to: "App/private.pem")
        try write("roots/private.pem", to: "App/policy.json")
        let app = try app
        let problems = problems { () throws(PolicyError) in
            try PinningPolicy(resource: "policy", withExtension: "json", in: app)
        }
        #expect(problems == (isThere ? ["unreadable-anchor-file hosts[0].anchors.include[0]"] : []))
    }

    @Test("Two anchor files of one name are refused with one error if one is read from next to the policy")
    func sharedName() throws {
        let others = try ["One", "Two"].map { try CertificateAuthority.root(name: $0) }
        try directory.write(root.certificate.pem, to: "App/private.pem")
        // Only the first file exists at its path.
        try directory.write(others[0].certificate.pem, to: "App/one/private.pem")
        let cases: [(anchors: [String], count: Int)] = [
            (["one/private.pem", "two/private.pem"], 1), (["two/private.pem", "one/private.pem"], 1),
            (["two/private.pem", "three/private.pem", "four/private.pem"], 1), (["two/private.pem", "private.pem"], 1),
            (["private.pem", "two/private.pem"], 1),
            (["two/private.pem", "./three/private.pem"], 1), (["two/private.pem", "two/../three/private.pem"], 1),
            // Two spellings of one path mean the same file.
            (["two/private.pem", "./two/private.pem"], 0), ([".//two/./private.pem", "two/private.pem"], 0),
            (["private.pem", "./private.pem"], 0),
            // Each file is used only once.
            (["one/private.pem", "private.pem"], 0), (["two/private.pem", "two/private.pem"], 0),
            (["two/private.pem"], 0),
        ]
        for (anchors, count) in cases {
            let list = anchors.map { "\"\($0)\"" }.joined(separator: ", ")
            try directory.write(
                """
                {"version": 1, "hosts": [{"host": "localhost", "anchors": {"include": [\(list)]}}]}
                """, to: "App/policy.json")
            do {
                _ = try resource()
                #expect(count == 0, "\(anchors)")
            } catch let error as PolicyError {
                #expect(error.problems.map(\.id) == ["unreadable-anchor-file"] && count == 1, "\(anchors)")
                let text = "\(anchors[0]) and \(anchors[1]) would both be this file beside the policy"
                #expect(error.description.contains(text), "\(error)")
                #expect(error.problems.first?.help == "give the files different names")
            }
        }
        // If both files exist at their paths, they may have the same name.
        try directory.write(others[1].certificate.pem, to: "App/two/private.pem")
        try write("one/private.pem", "two/private.pem", to: "App/policy.json")
        let certificates = try resource().hosts.first?.anchors.certificates.map(\.der)
        #expect(certificates == others.map(\.certificate.der))
    }

    @Test("A resource that is missing, unreadable or lacks an anchor is an error")
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
        // An absolute path is never replaced by a file next to the policy.
        #expect(problems("absolute") == ["unreadable-anchor-file hosts[0].anchors.include[0]"])
        let gone = #expect(throws: PolicyError.self) {
            try PinningPolicy(resource: "gone", withExtension: "json", subdirectory: "policies", in: app)
        }
        #expect(gone?.description.contains("no resource policies/gone.json in ") == true)
        #expect(gone?.description.contains("add the file to the resources of the target") == true)
    }

    @Test("A folder is not a valid policy resource")
    func folder() throws {
        try write("private.pem", to: "App/policy.json/inner.json")
        let app = try app
        #expect(
            problems { () throws(PolicyError) in try PinningPolicy(resource: "policy", withExtension: "json", in: app) }
                == ["unreadable-file "])
    }

    #if !PINTLE_APPLE
    @Test(
        "Private anchors for a public suffix are refused in a resource and a file; for a domain below it they are not"
    )
    func publicSuffix() throws {
        let app = { try self.app }
        for (host, expected) in [("co.uk", ["anchors-too-broad hosts[0].anchors"]), ("example.co.uk", [])] {
            let path = try directory.write(
                """
                {"version": 1, "hosts": [{"host": "\(host)", "includeSubdomains": true,
                    "anchors": {"include": ["private.pem"]}}]}
                """, to: "App/policy.json")
            try directory.write(root.certificate.pem, to: "App/private.pem")
            let bundle = try app()
            let resource = { () throws(PolicyError) in
                try PinningPolicy(resource: "policy", withExtension: "json", in: bundle)
            }
            #expect(problems(resource) == expected)
            #expect(problems { () throws(PolicyError) in try PinningPolicy(contentsOfFile: path) } == expected)
        }
    }
    #endif

    @Test("A file is read with its anchors only from paths relative to its folder")
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
