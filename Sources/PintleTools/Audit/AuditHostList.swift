internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools

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

    /// Calls `body` with every server, and adds an error for every unreadable line to `errors`.
    func read(_ errors: inout [ToolError], _ body: (AuditServer) -> Void) {
        guard !Self.marks.contains(where: file.bytes.starts) else {
            errors.append(
                .unusable(
                    "byte-order-mark", "the file begins with a byte order mark (BOM)", file: file.name, line: 1,
                    column: 1, hint: "save it as UTF-8 without BOM"))
            return
        }
        // Asked only about a file with an error, because the answer needs the whole file.
        lazy var kind = FileKind(of: file.bytes)
        var (start, number) = (0, 0)
        while start < file.bytes.count {
            let end = file.bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? file.bytes.count
            let line = file.bytes[start..<end]
            start = end + 1
            number += 1
            var text = line.prefix { $0 != UInt8(ascii: "#") }.drop(while: Self.isBlank)
            while let last = text.last, Self.isBlank(last) { text.removeLast() }
            if text.isEmpty { continue }
            do throws(ToolError) {
                body(try Self.server(text))
            } catch {
                // A private key that was given by mistake must not get into an error.
                if let kind { return errors.append(kind.refusal(of: file, wanted: "a list of hosts")) }
                guard errors.count < Self.maximumErrors else {
                    errors.append(
                        .unusable("more-errors", "there are more; the rest was not looked at", file: file.name))
                    return
                }
                // Secrets in base64 have no dot.
                var error =
                    text.count < Self.shortestSecret || text.contains(UInt8(ascii: "."))
                    ? error : Self.noHost
                error.file = file.name
                error.line = number
                error.column = text.startIndex - line.startIndex + 1
                errors.append(error)
            }
        }
    }

    /// The length in bytes from which a word may be a secret.
    private static let shortestSecret = 24

    private static let noHost = ToolError.unusable(
        "invalid-host", "the line is no HOST[:PORT], and no HOST[:PORT] and where to connect to",
        hint: "write one server a line; # begins a comment")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    private static func server(_ line: ArraySlice<UInt8>) throws(ToolError) -> AuditServer {
        let words = line.count <= longestLine ? line.split(maxSplits: 2, whereSeparator: isBlank) : []
        guard let first = words.first, words.count <= 2 else { throw noHost }
        let endpoint = try HostArgument.endpoint(text(first))
        guard words.count == 2 else { return AuditServer(endpoint: endpoint) }
        return AuditServer(
            endpoint: endpoint, connectTo: try HostArgument.endpoint(text(words[1]), defaultPort: endpoint.port))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
