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
    /// Facts that several hosts have in common. They are held once, because their number for each host would be a
    /// product.
    struct Group {
        let hosts: [String]
        /// The facts without the host: `pin-set expiration="2027-11-20"`
        let facts: [String]
    }

    /// The facts: `api.example.com NSIncludesSubdomains true`
    let facts: [String]
    /// The groups, each host in only one of them.
    var groups: [Group] = []
    /// A Boolean value that indicates whether the order of the facts has a meaning.
    var isOrdered = false
    /// The pinned hosts, where the format can be read.
    var hosts: Set<String> = []

    struct Difference {
        var removed: [String] = []
        var added: [String] = []

        var isEmpty: Bool { removed.isEmpty && added.isEmpty }
    }

    /// The most lines of two files that are compared line by line. Beyond, all lines between the first and the last
    /// difference count.
    private static let mostCompared = 1_000

    func difference(to other: NativeMeaning) -> Difference {
        guard isOrdered else {
            var difference = Difference()
            var seen = Set(other.facts)
            difference.removed = facts.filter { seen.insert($0).inserted }
            seen = Set(facts)
            difference.added = other.facts.filter { seen.insert($0).inserted }
            addGroups(to: &difference, other)
            return difference
        }
        var (old, new) = (facts[...], other.facts[...])
        while let first = old.first, first == new.first { (old, new) = (old.dropFirst(), new.dropFirst()) }
        while let last = old.last, last == new.last { (old, new) = (old.dropLast(), new.dropLast()) }
        // The search takes time and memory by the square of what differs.
        guard old.count + new.count <= Self.mostCompared else {
            return Difference(removed: Array(old), added: Array(new))
        }
        var difference = Difference()
        for change in new.difference(from: old) {
            switch change {
            case .remove(_, let line, _): difference.removed.append(line)
            case .insert(_, let line, _): difference.added.append(line)
            }
        }
        // Removals come from the last to the first.
        difference.removed.reverse()
        return difference
    }

    /// Adds the facts that the groups of hosts have on only one side. Two lists of facts are compared once, whatever
    /// number of hosts has them.
    private func addGroups(to difference: inout Difference, _ other: NativeMeaning) {
        struct Pair: Hashable {
            let old: Int?
            let new: Int?
        }
        var lists: [(facts: [String], set: Set<String>)] = []
        var numbers: [Set<String>: Int] = [:]
        func numbered(_ groups: [Group]) -> [(host: String, list: Int)] {
            groups.flatMap { group in
                let set = Set(group.facts)
                let number = numbers[set] ?? lists.count
                if number == lists.count {
                    numbers[set] = number
                    var rest = set
                    lists.append((group.facts.filter { rest.remove($0) != nil }, set))
                }
                return group.hosts.map { ($0, number) }
            }
        }
        let (old, new) = (numbered(groups), numbered(other.groups))
        let (oldLists, newLists) = (Dictionary(old) { first, _ in first }, Dictionary(new) { first, _ in first })
        var hosts: [Pair: [String]] = [:]
        var order: [Pair] = []
        for host in old.map(\.host) + new.map(\.host).filter({ oldLists[$0] == nil }) {
            let pair = Pair(old: oldLists[host], new: newLists[host])
            guard pair.old != pair.new else { continue }
            if hosts[pair] == nil { order.append(pair) }
            hosts[pair, default: []].append(host)
        }
        for pair in order {
            let all = hosts[pair] ?? []
            let names = TextLayout.list(all, width: 72)
            func facts(_ list: Int?, notIn other: Int?) -> [String] {
                guard let list else { return [] }
                let others = other.map { lists[$0].set } ?? []
                let facts = lists[list].facts.filter { !others.contains($0) }.map { "\(names) \($0)" }
                let isShortened = !facts.isEmpty && names != all.joined(separator: ", ")
                return isShortened ? ["\(names) are \(all.joined(separator: ", "))"] + facts : facts
            }
            difference.removed += facts(pair.old, notIn: pair.new)
            difference.added += facts(pair.new, notIn: pair.old)
        }
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
