internal import Pintle

/// A file of hosts. Each line holds a host, `host:port` or https URL, and optionally the host or address to connect to
/// instead. The text after `#` is a comment.
struct AuditHostList {
    /// The size limit in bytes. It leaves room for a list of about two million hosts.
    static let maximumSize = 64 << 20
    private static let maximumErrors = 20
    private static let longestLine = 2_048

    /// The byte order marks of UTF-8 and both kinds of UTF-16.
    private static let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]

    private let file: InputFile

    init(_ file: InputFile) {
        self.file = file
    }

    var lines: Lines { Lines(file.bytes) }

    /// Adds an error for every unreadable line to `errors`.
    func check(_ errors: inout [ToolError]) {
        guard !Self.marks.contains(where: file.bytes.starts) else {
            errors.append(
                .unusable(
                    "byte-order-mark", "the file begins with a byte order mark (BOM)", file: file.name, line: 1,
                    column: 1, hint: "save it as UTF-8 without BOM"))
            return
        }
        var lines = lines
        while let line = lines.nextLine() {
            do throws(ToolError) {
                _ = try Self.target(line.text)
            } catch {
                guard errors.count < Self.maximumErrors else {
                    errors.append(
                        .unusable("more-errors", "there are more; the rest was not looked at", file: file.name))
                    return
                }
                var error = error
                error.file = file.name
                error.line = line.number
                error.column = line.column
                errors.append(error)
            }
        }
    }

    /// The targets of a list that has passed ``check(_:)``.
    struct Lines {
        private let bytes: [UInt8]
        private var start = 0
        private var number = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        struct Line {
            let text: ArraySlice<UInt8>
            /// The line number, counted from 1.
            let number: Int
            let column: Int
        }

        mutating func next() -> AuditTarget? {
            while let line = nextLine() {
                if let target = try? AuditHostList.target(line.text) { return target }
            }
            return nil
        }

        /// Returns the next line with content, without surrounding blanks.
        mutating func nextLine() -> Line? {
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                let line = bytes[start..<end]
                start = end + 1
                number += 1
                var text = line.prefix { $0 != UInt8(ascii: "#") }.drop(while: AuditHostList.isBlank)
                while let last = text.last, AuditHostList.isBlank(last) { text.removeLast() }
                if !text.isEmpty {
                    return Line(text: text, number: number, column: text.startIndex - line.startIndex + 1)
                }
            }
            return nil
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    private static func target(_ line: ArraySlice<UInt8>) throws(ToolError) -> AuditTarget {
        let words = line.count <= longestLine ? line.split(maxSplits: 2, whereSeparator: isBlank) : []
        guard let first = words.first, words.count <= 2 else {
            throw .unusable(
                "invalid-host", "the line is no HOST[:PORT], and no HOST[:PORT] and where to connect to",
                hint: "write one server a line; # begins a comment")
        }
        let endpoint = try HostArgument.endpoint(text(first))
        guard words.count == 2 else { return AuditTarget(endpoint: endpoint) }
        return AuditTarget(
            endpoint: endpoint, connectTo: try HostArgument.endpoint(text(words[1]), defaultPort: endpoint.port))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
