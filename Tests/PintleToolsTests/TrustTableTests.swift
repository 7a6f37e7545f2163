import Foundation
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing
import TrustTables

/// The cases of Apple's tests, decided by `pintle evaluate`. Each anchor of an app is a rule's anchor.
@Suite("Apple's cases on Linux")
struct TrustTableTests {
    @Test("Each case has the verdict of the table")
    func verdicts() throws {
        var lines: [String] = []
        var found: [String: String] = [:]
        for item in TrustCase.all {
            let path = try item.path()
            do {
                lines.append(try Self.line(item, path))
            } catch {
                found[item.id] = error.code
            }
        }
        let run = ToolRun("evaluate", "--batch", input: Array((lines.joined(separator: "\n") + "\n").utf8))
        for line in run.output.split(separator: "\n") {
            let answer = try JSONDocument(Array(line.utf8)).root
            found[answer["id"]?.string ?? ""] = Self.verdict(answer)
        }
        for item in TrustCase.all {
            #expect(found[item.id] == item.expected.linux, "\(item)")
        }
    }

    /// An input that the tool does not take.
    private struct Refusal: Error {
        let code: String
    }

    private static func verdict(_ answer: JSONValue) -> String? {
        if let code = answer["error"]?["code"]?.string { return code }
        if answer["decision"]?.string == "trusted" { return "accepted" }
        return answer["pathFailure"]?.string ?? answer["reason"]?.string
    }

    private static func line(_ item: TrustCase, _ path: TrustCase.Path) throws(Refusal) -> String {
        func list(_ certificates: [[UInt8]]) -> String {
            "[" + certificates.map { JSONWriter.quoted(PEM.encode($0)) }.joined(separator: ",") + "]"
        }
        var line = "{\"id\":\"\(item.id)\",\"host\":\(JSONWriter.quoted(item.host)),\"chain\":\(list(path.chain))"
        line += ",\"at\":\"\(ISO8601DateFormatter().string(from: item.instant))\""
        switch item.anchor {
        case .system: line += ",\"anchors\":\(list([path.anchor.der]))"
        case .app: line += ",\"anchors\":[]"
        }
        if let policy = try policy(item, path) { line += ",\"policy\":" + policy.replacing("\n", with: " ") }
        return line + "}"
    }

    /// Returns the policy with the anchor of the app, or the one that the tool makes of the app's Info.plist.
    private static func policy(_ item: TrustCase, _ path: TrustCase.Path) throws(Refusal) -> String? {
        guard item.pins.isEmpty else {
            let plist = try? item.infoPlist(path) { key in
                let pin = try PublicKeyPin(subjectPublicKeyInfo: key).description
                return String(pin.dropFirst("sha256/".count))
            }
            let input = Array((plist ?? "").utf8)
            let run = ToolRun("import", "--from", "ats", "-", "--json", input: input)
            if let code = (try? run.json())?["error"]?["code"]?.string { throw Refusal(code: code) }
            return ToolRun("import", "--from", "ats", "-", input: input).output
        }
        // A host that no rule can have is left to the tool.
        guard item.anchor == .app,
            let rule = try? PinnedHost(
                item.host, pins: [Pin](), anchors: .only([Certificate(der: path.anchor.der)])),
            let policy = try? PinningPolicy(hosts: [rule])
        else { return nil }
        return String(decoding: policy.json(), as: UTF8.self)
    }

    @Test("The readable table is the one that the tests check")
    func readable() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../TrustTables/TrustTables.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let isCurrent = text.hasSuffix("\n\n" + TrustCase.table)
        if !isCurrent, ProcessInfo.processInfo.environment["PINTLE_WRITE_TABLES"] == "1" {
            let head = text.components(separatedBy: "\n| ")[0].trimmingCharacters(in: .newlines)
            try (head + "\n\n" + TrustCase.table).write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(isCurrent, "write the table again with PINTLE_WRITE_TABLES=1, and read the difference")
    }

    @Test("A case whose columns differ names its row of the article on platform differences")
    func differences() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/Pintle/Pintle.docc/PlatformDifferences.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        for item in TrustCase.all {
            let accepts = [item.expected.apple, item.expected.linux].map { $0 == "accepted" }
            #expect((accepts[0] != accepts[1]) == !item.difference.isEmpty, "\(item)")
            let isInArticle = article.contains("\n| \(item.difference) |")
            #expect(item.difference.isEmpty || item.difference.hasPrefix("import: ") || isInArticle, "\(item)")
        }
    }
}
