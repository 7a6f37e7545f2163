import Foundation

/// Public test data beside the package, which is never copied into it. If it is absent, tests are skipped with a
/// message.
enum SharedData {
    static func bytes(_ name: String) -> Data? {
        FileManager.default.contents(atPath: folder + "/" + name)
    }

    static var isPresent: Bool { bytes("limbo-core.json") != nil }

    private static var folder: String {
        if let folder = ProcessInfo.processInfo.environment["PINTLE_SHARED_DATA"], !folder.isEmpty { return folder }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/data").path
    }
}
