@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleStorage

private let pins = Array(
    """
    <plist><dict><key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains</key>
    <dict>
        <key>a.test</key>
        <dict/>
    </dict></dict></dict></plist>
    """.utf8)
private let configuration = Array(
    """
    <network-security-config>
        <domain-config>
            <domain>a.test</domain>
        </domain-config>
    </network-security-config>
    """.utf8)
private let path = ["NSAppTransportSecurity", "NSPinnedDomains"]

/// Native files that `pintle sync` edits. A file that can be read can be edited, then means what the export means, and
/// the other values of a property list are the same.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    check(input, pins) { bytes throws(ToolError) in try PropertyListFile(bytes, path: path) }
    let rules = SecurityConfigFile.Rules(hosts: ["a.test"], pinnedWithSubdomains: ["a.test"])
    check(input, configuration) { bytes throws(ToolError) in try SecurityConfigFile(bytes, rules: rules) }
    _ = try? SyncReader.read(input, file: "file", in: PolicyFolder(ofFile: "file"))
    return 0
}

private func check<File: NativeFile>(
    _ input: [UInt8], _ exported: [UInt8], _ read: ([UInt8]) throws(ToolError) -> File
) {
    guard let file = try? read(input) else { return }
    do throws(ToolError) {
        let exported = try read(exported)
        let edited = try file.replacing(by: exported).bytes
        guard try read(edited).meaning.difference(to: exported.meaning).isEmpty else { fatalError("other pins") }
        if file is PropertyListFile {
            guard try others(input) == others(edited) else { fatalError("other values have changed") }
        }
    } catch {
        fatalError("\(error)")
    }
}

/// Returns the facts of a property list without those of the pins.
private func others(_ bytes: [UInt8]) throws(ToolError) -> [String] {
    try PropertyListFile(bytes, path: []).meaning.facts.filter {
        !$0.hasPrefix("NSAppTransportSecurity NSPinnedDomains ") && $0 != "NSAppTransportSecurity (empty)"
    }
}
