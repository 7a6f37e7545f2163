internal import Pintle

/// Some lines of a file, found in one pass.
package struct SourceLines {
    private let lines: [Int: String]
    /// The longest part of a line that may be shown around a place, and some more.
    private static let longestKept = 4_096

    package init(of bytes: [UInt8], at wanted: Set<Int>) {
        var lines: [Int: String] = [:]
        var number = 1
        var start = 0
        var left = wanted.count
        while left > 0, start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            if wanted.contains(number) {
                lines[number] = String(decoding: bytes[start..<min(end, start + Self.longestKept)], as: UTF8.self)
                left -= 1
            }
            number += 1
            start = end + 1
        }
        self.lines = lines
    }

    /// Returns the line with its number, and a mark below the column; of a long line, only the part around the column.
    func excerpt(line: Int, column: Int, width: Int, ellipsis: String) -> [String] {
        guard let source = lines[line] else { return [] }
        // Columns count scalars.
        let scalars = source.unicodeScalars.map { $0 == "\t" ? " " : $0 }
        guard column >= 1, column <= scalars.count + 1 else { return [] }
        let room = width - 9
        let start = scalars.count <= room ? 0 : max(0, column - 1 - room / 2)
        let piece = scalars[start..<min(scalars.count, start + room)]
        let shown = piece.map { $0.isUnsafeToPrint ? "?" : String($0) }.joined()
        let lead = start > 0 ? ellipsis : ""
        let tail = piece.endIndex < scalars.count ? ellipsis : ""
        let number = String(repeating: " ", count: max(0, 5 - "\(line)".count)) + "\(line)"
        return [
            "\(number) | \(lead)\(shown)\(tail)",
            "      | " + String(repeating: " ", count: lead.count + column - 1 - start) + "^",
        ]
    }
}
