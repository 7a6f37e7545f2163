internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// A file in a foreign format, as far as it belongs to the policy.
protocol NativeFile {
    var meaning: NativeMeaning { get }

    /// Returns the file with the policy's part replaced by that of an exported file.
    ///
    /// - Returns: the bytes, and the number of comments that go.
    func replacing(by exported: Self) throws(ToolError) -> (bytes: [UInt8], lostComments: Int)
}

/// The policy's part of a file in words, which are equal for two files that mean the same.
struct NativeMeaning {
    /// The facts: `api.example.com NSIncludesSubdomains true`
    let facts: [String]
    /// A Boolean value that indicates whether the order of the facts has a meaning.
    var isOrdered = false
    /// The pinned hosts, where the format can be read.
    var hosts: Set<String> = []

    struct Difference {
        var removed: [String] = []
        var added: [String] = []

        var isEmpty: Bool { removed.isEmpty && added.isEmpty }
    }

    func difference(to other: NativeMeaning) -> Difference {
        guard isOrdered else {
            var difference = Difference()
            var seen = Set(other.facts)
            difference.removed = facts.filter { seen.insert($0).inserted }
            seen = Set(facts)
            difference.added = other.facts.filter { seen.insert($0).inserted }
            return difference
        }
        var (old, new) = (facts[...], other.facts[...])
        while let first = old.first, first == new.first { (old, new) = (old.dropFirst(), new.dropFirst()) }
        while let last = old.last, last == new.last { (old, new) = (old.dropLast(), new.dropLast()) }
        return Difference(removed: Array(old), added: Array(new))
    }

    /// Returns a name without quotes if no other text can be taken for it.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : JSONWriter.quoted(text)
    }
}

/// A file that belongs to the policy as a whole. Its first line says so.
///
/// It is compared line by line, without blanks at the ends of lines and empty lines, because editors change them.
struct OwnFile: NativeFile {
    private let bytes: [UInt8]
    let meaning: NativeMeaning

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let lines = String(decoding: bytes, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        meaning = NativeMeaning(facts: lines.map { String($0).trimmed }.filter { !$0.isEmpty }, isOrdered: true)
    }

    func replacing(by exported: OwnFile) -> (bytes: [UInt8], lostComments: Int) { (exported.bytes, 0) }

    private static let mark = "Written by pintle sync"

    /// Returns the first line, without the characters of a comment.
    ///
    /// - Parameter policy: the path of the policy. Characters that could end a comment in some language are replaced.
    static func remark(_ policy: String) -> String {
        let name = policy.unicodeScalars.map {
            $0.isASCII && $0.value > 0x1F && $0 != "\\" && $0.value != 0x7F ? $0 : "?"
        }
        return "\(mark) from \(String(String.UnicodeScalarView(name))); edit the policy, not this file."
    }

    /// - Throws: an error if the file is not one of this tool's.
    static func check(_ bytes: [UInt8]) throws(ToolError) {
        let line = String(decoding: bytes.prefix(1_024), as: UTF8.self).prefix { !$0.isNewline }
        guard line.drop(while: { "/# \u{FEFF}".contains($0) }).hasPrefix(mark) else {
            throw .unusable(
                "foreign-file", "the file was not written by pintle sync", at: nil,
                hint: "pintle sync writes this file as a whole: move the old one away, or name another file")
        }
    }
}
