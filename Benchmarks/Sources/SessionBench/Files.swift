import Foundation

/// A new folder for the files of the servers and the client.
struct Files {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("session-bench-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(of: name)))
    }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
