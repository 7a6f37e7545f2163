import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

/// The folder of the public test data; `nil` if it is not installed.
enum PublicData {
    static let folder: String? = {
        let named = getenv("PINTLE_SHARED_DATA").map { String(cString: $0) } ?? ""
        let beside = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let folder = named.isEmpty ? "/\(beside)/shared/data" : named
        return InputFile.exists("\(folder)/chromium-pins.json") ? folder : nil
    }()
}

/// A real list of 372 hosts is exported to every format and imported again.
@Suite(
    "Chromium's list in every format",
    .enabled(if: PublicData.folder != nil, "skipped: the public test data is not beside the package"))
struct ExportChromiumTests {
    private func read(_ name: String) throws -> [UInt8] {
        try InputFile("\(try #require(PublicData.folder))/\(name)", standardInput: ByteSource([])).bytes
    }

    private func list() throws -> PinningPolicy {
        let keys = try ChromiumKeys(read("chromium-pins.pins"))
        let draft = try ImportCommand.read(read("chromium-pins.json"), as: .chromium, keys: keys, files: .none)
        #expect(draft.losses.losses.first { $0.effect == .weaker }?.kind == .badPins)
        return try draft.policy()
    }

    /// Returns the pins of a policy for a host; an empty set for a host without pins.
    private func pins(_ policy: PinningPolicy, _ host: String) throws -> Set<Pin.Subject> {
        guard let rule = policy.rule(for: ServerEndpoint(host: try ServerName(host))) else { return [] }
        return Set(policy.hosts[rule.index].pins.map(\.subject))
    }

    @Test(
        "A round trip keeps the pins of every host, unless a loss names the rule",
        arguments: ForeignFormat.allCases)
    func roundTrip(format: ForeignFormat) throws {
        let policy = try list()
        #expect(policy.hosts.count == 372)
        let back = try ExportedPolicy(policy, to: format, positionless: format == .ats ? .ca : nil)
        let named = Set(back.losses.filter { $0.effect != .other }.flatMap(\.hosts))
        var same = 0
        for host in policy.hosts.map(\.host.description) {
            let parent = host.drop { $0 != "." }.dropFirst()
            for name in [host, "www.\(host)", "a.b.\(host)", String(parent), "evil\(host)"] where !name.isEmpty {
                let before = try pins(policy, name)
                let after = try pins(back.policy, name)
                if before == after {
                    same += 1
                    continue
                }
                let endpoint = ServerEndpoint(host: try ServerName(name))
                let rules = [policy.rule(for: endpoint)?.host, back.policy.rule(for: endpoint)?.host]
                let names = Set(rules.compactMap { $0?.description })
                #expect(!names.isDisjoint(with: named), "\(name) in \(format)")
            }
        }
        #expect(same > 700)
    }

    @Test(
        "A format that can express the whole list gives back the same file",
        arguments: [ForeignFormat.nsc, .chromium])
    func identical(format: ForeignFormat) throws {
        let policy = try list()
        #expect(try ExportedPolicy(policy, to: format).policy.json() == policy.json())
    }

    @Test("The tool reads both files of the list and writes both")
    func command() throws {
        let folder = try #require(PublicData.folder)
        let run = ToolRun("import", "--from", "chromium", "\(folder)/chromium-pins.json")
        #expect(run.code == 0)
        #expect(run.errors.contains("WEAKER    bad-pins"))
        #expect(ToolRun("import", "--from", "chromium", "\(folder)/chromium-pins.json", "--strict").code == 1)
        let directory = try TemporaryDirectory()
        let policy = try directory.write(run.output, to: "list.json")
        #expect(ToolRun("export", policy, "--to", "chromium", "-o", directory.path(of: "out")).code == 0)
        let back = ToolRun("import", "--from", "chromium", directory.path(of: "out/\(ChromiumExport.list)"))
        #expect(back.output == run.output)
        // Formats that compare pins with the leaf would refuse every server. Only ATS has an option for pins of
        // authorities.
        for format in ["ats", "curl", "envoy"] { #expect(ToolRun("export", policy, "--to", format).code == 2) }
        #expect(ToolRun("export", policy, "--to", "ats", "--pins-at", "ca").code == 0)
    }
}
