import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole

@Suite("Kinds of files")
struct FileKindTests {
    private static let plist = "<?xml version=\"1.0\"?><!DOCTYPE plist PUBLIC \"a\" \"b\"><plist><dict><key>"

    @Test(
        "The kind of a file is known from its beginning",
        arguments: [
            ("{\"version\": 1, \"hosts\": []}", FileKind.policy),
            ("{\"payload\": \"\", \"payloadType\": \"x\", \"signatures\": []}", .update),
            ("{\"approvals\": []}", .approvals), ("{\"served-certificate-chain\": []}", .report),
            ("{\"version\": 1, \"families\": []}", .families), ("{\"until\": \"2027-01-01\", \"apps\": []}", .plan),
            ("{\"host\":\"a.example\",\"port\":443}\n{\"host\":\"b.example\"}\n", .results),
            ("<?xml version=\"1.0\"?>\n<!-- <a> -->\n<network-security-config/>", .androidConfiguration),
            (plist + "NSPinnedDomains</key></dict></plist>", .propertyList(.ats)),
            (plist + "TSKPinnedDomains</key></dict></plist>", .propertyList(.trustkit)),
            (plist + "Other</key></dict></plist>", .propertyList(nil)), ("bplist00", .binaryPropertyList),
            ("-----BEGIN PUBLIC KEY-----\n", .keys), ("{\"kty\": \"OKP\", \"d\": \"AA\"}", .keys),
            ("MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", .keys),
            ("<!DOCTYPE html><html>", .webPage),
            ("NSDictionary *c = @{ @\"a\": @1 };", .objectiveC), ("import Foundation\nlet a = 1", .sourceCode),
            ("curl --pinnedpubkey sha256//a https://a.example/", .otherPins),
            ("// pins\n{\"static_spki_hashes\": []}", .otherPins),
            ("{\"validation_context\": {\"verify_certificate_spki\": []}}", .otherPins),
        ])
    func kinds(text: String, kind: FileKind) {
        #expect(FileKind(of: Array(text.utf8)) == kind)
    }

    @Test(
        "A file of no known kind has none",
        arguments: [
            "", "hello", "{\"host\":\"a.example\",\"pins\":[]}", "a.example\nb.example\n", "[]", "{}", "<svg/>",
            "{\"version\": 1", "<!--",
        ])
    func unknown(text: String) {
        #expect(FileKind(of: Array(text.utf8)) == nil)
    }

    @Test("A command that reads another kind names the kind and the command that reads it")
    func commands() throws {
        let directory = try TemporaryDirectory()
        let android = try directory.write("<network-security-config/>", to: "n.xml")
        let update = try directory.write(
            "{\"payload\": \"\", \"payloadType\": \"x\", \"signatures\": []}", to: "u.json")
        let policy = try directory.write("{\"version\": 1, \"hosts\": []}", to: "p.json")
        let code = try directory.write("c = @{ kTSKPinnedDomains: @{ @\"a.example\": @{} } };", to: "c.m")
        let cases: [([String], String, String)] = [
            (["lint", android], "Android's network security configuration", "pintle import --from nsc"),
            (
                ["export", android, "--to", "ats"], "Android's network security configuration",
                "pintle import --from nsc"
            ),
            (["lint", update], "a signed update", "pintle verify"),
            (["inspect", android], "Android's", "pintle import"),
            (["pin", policy], "a policy", "pintle lint"), (["plan", policy], "a policy", "pintle lint"),
            (["import", "--from", "nsc", policy], "a policy", "pintle lint"),
            (["import", "--from", "trustkit", code], "Objective-C", "property list"),
            (["lint", code], "Objective-C", "property list"),
        ]
        for (arguments, kind, remedy) in cases {
            let run = ToolRun(arguments: arguments)
            #expect(run.code == 2 && run.output.isEmpty, "\(arguments)")
            #expect(run.errors.contains("the file is \(kind)") && run.errors.contains(remedy), "\(run.errors)")
        }
        #expect(ToolRun("lint", policy).errors.isEmpty)
    }

    @Test("An import without a pin says so")
    func nothingPinned() throws {
        let directory = try TemporaryDirectory()
        let (start, end) = (
            "<network-security-config><domain-config><domain>a.example</domain>",
            "</domain-config></network-security-config>"
        )
        let empty = ToolRun("import", "--from", "nsc", try directory.write(start + end, to: "e.xml"))
        #expect(empty.code == 0 && empty.errors.contains("e.xml pins nothing"), "\(empty.errors)")
        let pins = "<pin-set><pin digest=\"SHA-256\">C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=</pin></pin-set>"
        let full = ToolRun("import", "--from", "nsc", try directory.write(start + pins + end, to: "f.xml"))
        #expect(full.code == 0 && !full.errors.contains("pins nothing"), "\(full.errors)")
    }

    @Test("A remedy for a foreign file never has the spelling of a policy")
    func remedies() throws {
        let directory = try TemporaryDirectory()
        let wrong = [
            "C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8N=", "$PIN",
            "0b9fa5a59eed715c26c1020c711b4f6ec42d58b0015e14337a39dad301c5afc3",
        ]
        for pin in wrong {
            let text =
                "<network-security-config><domain-config><domain>a.example</domain><pin-set>"
                + "<pin digest=\"SHA-256\">\(pin)</pin></pin-set></domain-config></network-security-config>"
            let run = ToolRun("import", "--from", "nsc", try directory.write(text, to: "n.xml"))
            #expect(run.code == 2 && !run.errors.contains("sha256/") && !run.errors.contains("{"), "\(run.errors)")
        }
        let domain = "<domain-config><domain>a.example</domain></domain-config>"
        let twice = "<network-security-config>\(domain)\(domain)</network-security-config>"
        let run = ToolRun("import", "--from", "nsc", try directory.write(twice, to: "n.xml"))
        #expect(run.code == 2 && run.errors.contains("has a.example twice") && !run.errors.contains("hosts["))
    }
}
