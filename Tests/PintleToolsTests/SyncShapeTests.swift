import PintleTestKit
import Testing

@testable import PintlePolicyTools

/// Sync over files as public projects have them: only the policy's part changes, and it means what the export means.
@Suite("The shapes of native files")
struct SyncShapeTests {
    private let fixture: SyncFixture

    init() throws {
        fixture = try SyncFixture()
    }

    private func check(_ shape: SyncShape, _ formats: [ForeignFormat], file: String) throws {
        try fixture.directory.write(shape.text, to: file)
        #expect(fixture.sync("--check").code == 1)
        #expect(try fixture.text(file) == shape.text)
        let run = fixture.sync()
        try #require(run.code == 0, "\(run.errors)")
        let text = try fixture.text(file)
        // As bytes, because CR LF is one character.
        let (bytes, before, after) = (Array(text.utf8), Array(shape.before.utf8), Array(shape.after.utf8))
        #expect(bytes.starts(with: before), "\(text)")
        #expect(bytes.reversed().starts(with: after.reversed()), "\(text)")
        #expect(bytes.count > before.count + after.count)
        let ends = { (bytes: [UInt8]) in
            (bytes.contains(0x0D), bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast())
        }
        if ends(Array(shape.text.utf8)).0, shape.text.utf8.contains(0x0A) {
            #expect(ends(bytes).1.allSatisfy { $0.last == 0x0D }, "one kind of line end")
        }
        for format in formats { #expect(try fixture.rules(of: file, format) == fixture.exportedRules(format)) }
        // Nothing is left to do.
        #expect(fixture.sync("--check").code == 0)
        #expect(try fixture.states().allSatisfy { $0 == "current" })
        #expect(try fixture.text(file) == text)
    }

    @Test("In an Info.plist only the value of NSPinnedDomains changes", arguments: SyncShape.infoPlists)
    func infoPlist(shape: SyncShape) throws {
        try fixture.targets(("ats", "Info.plist"))
        try check(shape, [.ats], file: "Info.plist")
    }

    @Test(
        "In a network security configuration only the elements with pins change", arguments: SyncShape.securityConfigs)
    func securityConfig(shape: SyncShape) throws {
        try fixture.targets(("nsc", "network.xml"))
        try check(shape, [.nsc], file: "network.xml")
    }

    @Test("Two formats share one file, which is written once")
    func shared() throws {
        try fixture.targets(("ats", "Info.plist"), ("trustkit", "./Info.plist"))
        try check(
            SyncShape(name: "", marked: "<plist>\n<dict>\n\t<key>A</key>\n\t<true/>⟦⟧\n</dict>\n</plist>\n"),
            [.ats, .trustkit], file: "Info.plist")
    }

    @Test("New lines have the indentation of the file")
    func indentation() throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write(
            "<plist>\n  <dict>\n     <key>A</key>\n     <true/>\n  </dict>\n</plist>", to: "Info.plist")
        #expect(fixture.sync().code == 0)
        #expect(
            try fixture.text("Info.plist").hasPrefix(
                """
                <plist>
                  <dict>
                     <key>A</key>
                     <true/>
                     <key>NSAppTransportSecurity</key>
                     <dict>
                        <key>NSPinnedDomains</key>
                        <dict>
                           <key>api.example.com</key>
                           <dict>
                              <key>NSPinnedLeafIdentities</key>

                """))
    }
}
