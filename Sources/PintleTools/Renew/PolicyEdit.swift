internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyTools

/// Changes to the text of a policy file: lists of pins, and the number of the update. Every other byte stays as it is.
struct PolicyEdit {
    /// A pin of a changed list.
    enum Element: Hashable {
        /// A pin that the file has, by its list and its position there.
        case kept(PinList, Int)
        case added(Pin, note: String)
    }

    private let bytes: [UInt8]
    private let root: JSONValue
    private let rules: [JSONValue]
    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// - Parameter bytes: a policy without problems.
    init(_ bytes: [UInt8]) throws(ToolError) {
        do {
            root = try JSONDocument.policy(bytes).root
        } catch {
            throw ToolError(error, file: "policy")
        }
        self.bytes = bytes
        rules = root["hosts"]?.elements.map(Array.init) ?? []
    }

    /// The file with all changes.
    var result: [UInt8] {
        var result = bytes
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            result.replaceSubrange(edit.range, with: edit.text)
        }
        return result
    }

    /// Sets the update's number, which the file must have already.
    mutating func setUpdateVersion(_ version: Int) {
        guard let value = root["updateVersion"] else { return }
        edits.append((value.offset..<value.endOffset, Array(String(version).utf8)))
    }

    /// Replaces a list of pins. Pins that are kept have their old text, and the list its old line breaks.
    ///
    /// - Parameter elements: at least one.
    mutating func set(_ list: PinList, ofRule rule: Int, to elements: [Element]) {
        guard rules.indices.contains(rule) else { return }
        let texts = elements.map { text(of: $0, ofRule: rule) }
        guard let value = self.value(of: list, ofRule: rule) else {
            // The rule has no such list, so it comes after the other one.
            guard let other = self.value(of: list == .pins ? .backupPins : .pins, ofRule: rule) else { return }
            let text = ", \"\(list.rawValue)\": [".utf8 + Self.joined(texts, with: Array(", ".utf8)) + "]".utf8
            edits.append((other.endOffset..<other.endOffset, Array(text)))
            return
        }
        let old = value.elements.map(Array.init) ?? []
        guard let first = old.first, let last = old.last else {
            // An empty list, or "none-accepted".
            let text = "[".utf8 + Self.joined(texts, with: Array(", ".utf8)) + "]".utf8
            edits.append((value.offset..<value.endOffset, Array(text)))
            return
        }
        let lead = bytes[(value.offset + 1)..<first.offset]
        let separator =
            old.count > 1
            ? Array(bytes[first.endOffset..<old[1].offset])
            : Array(",".utf8) + (lead.isEmpty ? Array(" ".utf8) : Array(lead))
        edits.append((first.offset..<last.endOffset, Self.joined(texts, with: separator)))
    }

    private func value(of list: PinList, ofRule rule: Int) -> JSONValue? {
        switch list {
        case .pins: rules[rule]["pins"]
        case .backupPins: rules[rule]["backupPins"]
        }
    }

    private func text(of element: Element, ofRule rule: Int) -> [UInt8] {
        switch element {
        case .added(let pin, let note):
            var json = JSONWriter(.compact)
            pin.write(to: &json, note: PolicyNotes.problem(of: note) == nil ? note : nil)
            return json.bytes
        case .kept(let list, let index):
            let values = value(of: list, ofRule: rule)?.elements.map(Array.init) ?? []
            return values.indices.contains(index) ? Array(values[index].source) : []
        }
    }

    private static func joined(_ texts: [[UInt8]], with separator: [UInt8]) -> [UInt8] {
        Array(texts.joined(separator: separator))
    }
}

/// The lists of pins that a rule has.
enum PinList: String, Hashable {
    case pins, backupPins
}
