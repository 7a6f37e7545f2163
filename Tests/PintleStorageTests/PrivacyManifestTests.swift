import Foundation
import Testing

/// Apple refuses an upload if a module uses a "required reason API" without a manifest that states the reason. The
/// lists here are from Apple's article "Describing use of required reason API".
@Suite("Privacy manifests")
struct PrivacyManifestTests {
    /// For each category: the name after `NSPrivacyAccessedAPICategory`, the names in source code, and the allowed
    /// reasons.
    private static let categories: [(name: String, api: [String], reasons: Set<String>)] = [
        (
            "FileTimestamp",
            [
                "stat", "fstat", "lstat", "fstatat", "getattrlist", "fgetattrlist", "getattrlistat", "getattrlistbulk",
                "attributesOfItem", "creationDate", "modificationDate", "fileModificationDate",
                "contentModificationDate", "contentModificationDateKey", "creationDateKey",
            ],
            ["DDA9.1", "C617.1", "3B52.1", "0A2A.1"]
        ),
        ("SystemBootTime", ["systemUptime", "mach_absolute_time"], ["35F9.1", "8FFB.1", "3D61.1"]),
        (
            "DiskSpace",
            [
                "statfs", "fstatfs", "statvfs", "fstatvfs", "systemFreeSize", "systemSize", "attributesOfFileSystem",
                "volumeAvailableCapacity", "volumeAvailableCapacityKey", "volumeTotalCapacity",
                "volumeTotalCapacityKey", "volumeAvailableCapacityForImportantUsageKey",
                "volumeAvailableCapacityForOpportunisticUsageKey",
            ],
            ["85F4.1", "E174.1", "7D9E.1", "B728.1"]
        ),
        ("ActiveKeyboards", ["activeInputModes"], ["3EC4.1", "54BD.1"]),
        ("UserDefaults", ["UserDefaults", "AppStorage"], ["CA92.1", "1C8F.1", "C56D.1", "AC6B.1"]),
    ]

    /// The targets that are compiled on Apple's systems.
    static let modules = [
        "Pintle", "PintleApple", "PintleCrypto", "PintleReports", "PintleStorage", "PintleSystem",
        "PintleURLSession", "PintleUpdates",
    ]

    @Test("A module declares exactly the required reason APIs that it uses", arguments: modules)
    func declared(_ module: String) throws {
        let used = try Self.sources(of: module).reduce(into: Set<String>()) {
            $0.formUnion(Self.categories(usedIn: $1))
        }
        #expect(try Set(Self.manifest(of: module)?.keys ?? [:].keys) == used)
    }

    @Test("The storage declares metadata of the app's own files and of files that the user has picked")
    func known() throws {
        #expect(try Self.manifest(of: "PintleStorage") == ["FileTimestamp": ["C617.1", "3B52.1"]])
        #expect(try Self.manifest(of: "Pintle") == nil)
    }

    @Test("A use is found in code, but not in a comment or in a part of a name")
    func planted() {
        #expect(Self.categories(usedIn: "let seen = UserDefaults.standard.bool(forKey: \"seen\")") == ["UserDefaults"])
        #expect(Self.categories(usedIn: "guard lstat(path, &status) == 0 else {") == ["FileTimestamp"])
        #expect(Self.categories(usedIn: "ProcessInfo.processInfo.systemUptime") == ["SystemBootTime"])
        #expect(Self.categories(usedIn: "    // lstat(path, &status)").isEmpty)
        #expect(Self.categories(usedIn: "let status = restat(path)").isEmpty)
    }

    @Test("A manifest declares no tracking and no collection, and gives allowed reasons", arguments: modules)
    func content(_ module: String) throws {
        guard let content = try Self.content(of: module) else { return }
        #expect(content["NSPrivacyTracking"] as? Bool == false)
        #expect((content["NSPrivacyTrackingDomains"] as? [String])?.isEmpty == true)
        #expect((content["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
        for (name, reasons) in try #require(try Self.manifest(of: module)) {
            let category = try #require(Self.categories.first { $0.name == name })
            #expect(!reasons.isEmpty && category.reasons.isSuperset(of: reasons))
        }
    }

    @Test("The package makes a resource of each manifest, and of no other file")
    func listed() throws {
        let package = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let targets = package.components(separatedBy: "module(").filter { $0.contains(".copy(privacy)") }
        let names = targets.compactMap { $0.split(separator: "\"").dropFirst().first }
        let withManifest = try Self.modules.filter { try Self.content(of: $0) != nil }
        #expect(names.map { String($0) }.sorted() == withManifest)
    }

    // MARK: Reading

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func folder(of module: String) -> URL { root.appendingPathComponent("Sources/\(module)") }

    /// Returns the sources that are compiled on Apple's systems: those outside of folders named "Linux".
    private static func sources(of module: String) throws -> [String] {
        let files = try #require(
            FileManager.default.enumerator(at: folder(of: module), includingPropertiesForKeys: nil))
        let sources = files.compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && !$0.path.contains("/\(module)/Linux/") }
        try #require(!sources.isEmpty)
        return try sources.map { try String(contentsOf: $0, encoding: .utf8) }
    }

    private static func categories(usedIn source: String) -> Set<String> {
        let code = source.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        let words = Set(code.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } })
        return Set(categories.filter { $0.api.contains { words.contains(Substring($0)) } }.map(\.name))
    }

    private static func content(of module: String) throws -> [String: Any]? {
        let file = folder(of: module).appendingPathComponent("PrivacyInfo.xcprivacy")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), options: [], format: nil)
        return try #require(list as? [String: Any])
    }

    /// Returns the declared reasons by category.
    private static func manifest(of module: String) throws -> [String: Set<String>]? {
        guard let content = try content(of: module) else { return nil }
        var reasons: [String: Set<String>] = [:]
        for entry in try #require(content["NSPrivacyAccessedAPITypes"] as? [[String: Any]]) {
            let type = try #require(entry["NSPrivacyAccessedAPIType"] as? String)
            let prefix = "NSPrivacyAccessedAPICategory"
            try #require(type.hasPrefix(prefix))
            reasons[String(type.dropFirst(prefix.count))] = Set(
                try #require(entry["NSPrivacyAccessedAPITypeReasons"] as? [String]))
        }
        return reasons
    }
}
