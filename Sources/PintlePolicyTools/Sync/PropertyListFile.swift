internal import PintleConsole
internal import PintlePolicyFile

/// A property list of which one value belongs to the policy: `NSPinnedDomains` or `TSKPinnedDomains`.
struct PropertyListFile: NativeFile {
    /// The keys that lead to the value.
    private let path: [String]
    private let bytes: [UInt8]
    private let root: XMLElement
    let meaning: NativeMeaning
    /// The elements of the dictionaries on the path and of the value, as far as they exist.
    private let found: [XMLElement]

    init(_ bytes: [UInt8], path: [String]) throws(ToolError) {
        try XMLEdit.check(bytes)
        // Also refuses two equal keys, of which readers take different ones.
        let setting = try PropertyListReader.root(bytes)
        root = try PropertyListReader.value(of: try XMLDocument.root(bytes))
        (self.bytes, self.path) = (bytes, path)
        var (found, value) = ([root], setting)
        _ = try value.dictionary("the property list")
        for key in path {
            guard let element = Self.value(of: key, in: found[found.count - 1]), let inner = value[key] else { break }
            _ = try inner.dictionary(key)
            found.append(element)
            value = inner
        }
        self.found = found
        guard found.count > path.count else {
            meaning = NativeMeaning(facts: [])
            return
        }
        let members = value.members ?? []
        var facts: [String] = []
        for member in members {
            // TrustKit has no such key.
            let setting = path.last == "NSPinnedDomains" ? Self.withoutDefaults(member.value) : member.value
            Self.add(setting, NativeMeaning.word(member.key), to: &facts)
        }
        meaning = NativeMeaning(facts: facts, hosts: Set(members.map(\.key)))
    }

    private static func value(of key: String, in dictionary: XMLElement) -> XMLElement? {
        let children = dictionary.children
        let place = stride(from: 0, to: children.count - 1, by: 2).first { children[$0].text == key }
        return place.map { children[$0 + 1] }
    }

    /// Returns the settings of a host without those that are the same as none.
    ///
    /// One that has nothing else stays, because the host then has an entry without pins.
    private static func withoutDefaults(_ setting: Setting) -> Setting {
        guard case .dictionary(let members) = setting.value, members.count > 1 else { return setting }
        let rest = members.filter { member in
            guard member.key == "NSIncludesSubdomains", case .boolean(false) = member.value.value else { return true }
            return false
        }
        return Setting(value: .dictionary(rest), place: setting.place)
    }

    private static func add(_ setting: Setting, _ path: String, to facts: inout [String]) {
        switch setting.value {
        case .string(let text): facts.append("\(path) \(JSONWriter.quoted(text))")
        case .boolean(let boolean): facts.append("\(path) \(boolean)")
        case .other: facts.append("\(path) (a number, date or data)")
        case .array(let items):
            if items.isEmpty { facts.append("\(path)[] (empty)") }
            for item in items { add(item, path + "[]", to: &facts) }
        case .dictionary(let members):
            if members.isEmpty { facts.append("\(path) (empty)") }
            for member in members { add(member.value, "\(path) \(NativeMeaning.word(member.key))", to: &facts) }
        }
    }

    func replacing(by exported: PropertyListFile) throws(ToolError) -> (bytes: [UInt8], lostComments: Int) {
        let edit = XMLEdit(bytes, parent: root, unit: "\t")
        guard exported.found.count > path.count else { return (bytes, 0) }
        let last = found[found.count - 1]
        guard found.count <= path.count else {
            try XMLEdit.checkNothingIsLost(of: last, remedy: "move it out of \(path[path.count - 1])") { _ in false }
            let lines = XMLEdit.lines(of: exported.found[path.count], in: exported.bytes)
            return (edit.replacing([last], by: [lines]), last.comments)
        }
        // The first key that is missing, with all that the export has in it.
        let key: [UInt8] = Array("<key>\(XMLText.escape(path[found.count - 1]))</key>".utf8)
        let lines = XMLEdit.lines(of: exported.found[found.count], in: exported.bytes)
        return (edit.inserting([[(0, key)], lines], into: last), 0)
    }
}
