internal import Pintle
package import PintleConsole
internal import PintleSystem

/// Reads results one by one. Its memory does not grow with their number.
package struct AuditReader {
    private let name: String
    private let readsPaths: Bool
    private var lines: LineReader
    /// The line of the last result, counted from 1.
    package private(set) var line = 0
    /// The number of bytes up to the end of the last whole line.
    package private(set) var wholeBytes = 0
    /// The number of bytes after the last line break, known at the end. Every result ends with a line break, so these
    /// bytes are not a result.
    package private(set) var tornBytes = 0

    /// - Parameter readsPaths: `true` to read the certificates of the validated paths too.
    package init(_ name: String, _ source: ByteSource, readsPaths: Bool = false) {
        self.name = name
        self.readsPaths = readsPaths
        lines = LineReader(source, limit: AuditRecord.maximumLineLength, stopsAtLongLine: true)
    }

    /// - Throws: an error with its place if a line is not a result, or if the bytes after the last line break are not
    ///   the beginning of one.
    package mutating func next() throws(ToolError) -> AuditRecord? {
        while let text = try nextLine() {
            guard !lines.isTorn else {
                guard text.starts(with: Self.beginning.prefix(text.count)) else {
                    throw unreadable("the last line is neither a result of an audit nor the beginning of one")
                }
                tornBytes = text.count
                return nil
            }
            wholeBytes += text.count + 1
            if text.isEmpty { continue }
            do {
                return try AuditRecord(text, readsPath: readsPaths)
            } catch {
                throw unreadable("this is not a result of an audit: \(error.message)")
            }
        }
        return nil
    }

    /// The first bytes of every result, whose first member is the host.
    private static let beginning = Array("{\"host\":\"".utf8)

    private mutating func nextLine() throws(ToolError) -> [UInt8]? {
        let next: LineReader.Line?
        do {
            next = try lines.next()
        } catch {
            throw InputFile.unreadable(name, error)
        }
        guard let next else { return nil }
        line += 1
        guard case .text(let text) = next else { throw unreadable("the line is longer than those of an audit") }
        return text
    }

    private func unreadable(_ message: String) -> ToolError {
        .unusable(
            "malformed-results", message, file: name, line: line,
            hint: "results are what 'pintle audit -o' writes: one JSON object a line")
    }

    /// Reads every result of a file with its line. Returns `true` if the last line was cut off.
    package static func forEach(
        in path: String, readsPaths: Bool = false,
        _ body: (AuditRecord, _ line: Int) throws(ToolError) -> Void
    ) throws(ToolError) -> Bool {
        let descriptor = try InputFile.open(path)
        defer { close(descriptor) }
        var reader = AuditReader(path, ByteSource(descriptor: descriptor), readsPaths: readsPaths)
        while let record = try reader.next() { try body(record, reader.line) }
        return reader.tornBytes > 0
    }
}
