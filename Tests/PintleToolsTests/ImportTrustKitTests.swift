import FoundationEssentials
import Pintle
import Testing

@testable import PintlePolicyTools

@Suite("Import of TrustKit's configuration")
struct ImportTrustKitTests: ImportReading {
    private static let list = """
        <plist version="1.0"><dict><key>TSKSwizzleNetworkDelegates</key><false/><key>TSKPinnedDomains</key><dict>
        <key>example.com</key><dict>
        <key>TSKIncludeSubdomains</key><true/>
        <key>TSKExpirationDate</key><string>2027-11-20</string>
        <key>TSKPublicKeyHashes</key><array><string>\(hash)</string><string>\(other)</string></array>
        </dict></dict></dict></plist>
        """

    @Test("Import reads TrustKit's property list, and an unknown setting is an error with its place")
    func propertyList() throws {
        let rule = try #require(try draft(Self.list, .trustkit).policy().hosts.first)
        #expect(rule.includesSubdomains)
        #expect(rule.enforcement == .enforce)
        #expect(rule.pins.count == 2)
        #expect(rule.expiry == .systemTrust(after: try RFC3339.date(from: "2027-11-20T00:00:00Z")))
        try check(
            Self.list, .trustkit,
            [
                ("TSKSwizzleNetworkDelegates", "TSKSwizzleEverything", "1:28 unknown-key"),
                ("TSKIncludeSubdomains", "TSKIncludeSubdomain", "3:1 unknown-key"),
                ("TSKPublicKeyHashes", "TSKReportUris", "5:32 invalid-report-url"),
                ("2027-11-20", "20.11.2027", "4:29 invalid-date"),
                // TrustKit would compare the name as it is written, and never find it.
                ("<key>example.com", "<key>Example.com", "2:1 invalid-host"),
                ("TSKPinnedDomains", "TSKSwizzle", "1:22 nothing-pinned"),
            ])
    }

    @Test("Import names each setting of TrustKit that a policy cannot have")
    func losses() throws {
        #expect(try losses(Self.list, .trustkit) == ["other reports example.com"])
        let silent = Self.list.replacing(
            "<key>TSKIncludeSubdomains", with: "<key>TSKDisableDefaultReportUri</key><true/><key>TSKIncludeSubdomains")
        #expect(try losses(silent, .trustkit) == [])
        let everywhere = silent.replacing("Delegates</key><false/>", with: "Delegates</key><true/>")
        #expect(try losses(everywhere, .trustkit) == ["other stacks"])
        let skipping = everywhere.replacing(
            "TSKSwizzleNetworkDelegates", with: "TSKIgnorePinningForUserDefinedTrustAnchors")
        #expect(try losses(skipping, .trustkit) == ["stricter user-anchors"])
    }
}
