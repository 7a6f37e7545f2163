internal import PintleConsole

/// Reads property lists in XML (Apple's DTD, version 1.0).
enum PropertyListReader {
    static func root(_ bytes: [UInt8]) throws(ToolError) -> Setting {
        if bytes.starts(with: Array("bplist".utf8)) {
            throw .unusable(
                "binary-plist", "a binary property list", at: nil, hint: "convert it: plutil -convert xml1 FILE")
        }
        return try setting(value(of: try XMLDocument.root(bytes)))
    }

    /// Returns the element of the one value.
    static func value(of root: XMLElement) throws(ToolError) -> XMLElement {
        guard root.name == "plist", root.children.count == 1, let child = root.children.first, root.hasNoText else {
            throw .unusable("not-a-plist", "not a property list with one value", at: root.place)
        }
        return child
    }

    static func setting(_ element: XMLElement) throws(ToolError) -> Setting {
        func leaf(_ value: Setting.Value) throws(ToolError) -> Setting {
            guard element.children.isEmpty else {
                throw .unusable("malformed-plist", "<\(element.name)> has elements inside", at: element.place)
            }
            return Setting(value: value, place: element.place)
        }
        switch element.name {
        case "string": return try leaf(.string(element.text))
        case "true": return try leaf(.boolean(true))
        case "false": return try leaf(.boolean(false))
        case "integer", "real", "date", "data": return try leaf(.other)
        case "array":
            guard element.hasNoText else { break }
            var items: [Setting] = []
            for child in element.children { items.append(try setting(child)) }
            return Setting(value: .array(items), place: element.place)
        case "dict":
            guard element.hasNoText else { break }
            return Setting(value: .dictionary(try members(element)), place: element.place)
        default: break
        }
        throw .unusable("malformed-plist", "<\(element.name)> does not belong here", at: element.place)
    }

    private static func members(_ element: XMLElement) throws(ToolError) -> [Setting.Member] {
        var members: [Setting.Member] = []
        var rest = element.children[...]
        while let key = rest.popFirst() {
            guard key.name == "key", key.children.isEmpty else {
                throw .unusable("malformed-plist", "a key is missing before <\(key.name)>", at: key.place)
            }
            guard let value = rest.popFirst(), value.name != "key" else {
                throw .unusable("malformed-plist", "the key \(key.text) has no value", at: key.place)
            }
            members.append(Setting.Member(key: key.text, place: key.place, value: try setting(value)))
        }
        try Setting.refuseDuplicates(members)
        return members
    }
}

extension XMLElement {
    /// A Boolean value that indicates whether it contains only elements.
    var hasNoText: Bool { text.allSatisfy(\.isWhitespace) }
}
