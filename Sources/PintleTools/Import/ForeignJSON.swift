internal import Pintle

/// JSON in foreign files, read as strictly as a policy.
enum ForeignJSON {
    /// - Parameter allowsComments: true to accept `//` to the end of the line, outside of strings. Comments are
    ///   replaced by
    ///   blanks, so that places stay the same.
    static func document(_ bytes: [UInt8], allowsComments: Bool) throws(ToolError) -> JSONDocument {
        var limits = JSONDocument.Limits(maximumBytes: ForeignLimits.fileSize, maximumDepth: ForeignLimits.depth)
        limits.allowsAnyNumber = true
        do {
            return try JSONDocument(allowsComments ? withoutComments(bytes) : bytes, limits: limits)
        } catch {
            throw .unusable(error.code.rawValue, error.message, at: error.place, hint: error.hint)
        }
    }

    private static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var index = 0
        var isInString = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\") where isInString: index += 1
            case UInt8(ascii: "/")
            where !isInString && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/"):
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
                    // Columns count characters, so a continuation byte is replaced by another one.
                    bytes[index] = UInt8(ascii: " ")
                    index += 1
                }
            default: break
            }
            index += 1
        }
        return bytes
    }
}

extension JSONValue {
    /// Returns the members of an object, whose keys must all be known.
    func members(_ name: String, known: [String]) throws(ToolError) -> [(key: String, value: JSONValue)] {
        guard let members else { throw wrongType(name, "an object") }
        var found: [(key: String, value: JSONValue)] = []
        for member in members {
            let key = member.key.string ?? ""
            guard known.contains(key) else {
                throw .unknownKey(key, in: name, at: member.key.place, known: known)
            }
            found.append((key, member.value))
        }
        return found
    }

    func elements(_ name: String) throws(ToolError) -> JSONElements {
        guard let elements else { throw wrongType(name, "an array") }
        return elements
    }

    func text(_ name: String) throws(ToolError) -> String {
        guard let string else { throw wrongType(name, "a string") }
        return string
    }

    func flag(_ name: String) throws(ToolError) -> Bool {
        guard let boolean else { throw wrongType(name, "true or false") }
        return boolean
    }

    func texts(_ name: String) throws(ToolError) -> [(String, JSONValue)] {
        var texts: [(String, JSONValue)] = []
        for element in try elements(name) { texts.append((try element.text("an element of \(name)"), element)) }
        return texts
    }

    private func wrongType(_ name: String, _ wanted: String) -> ToolError {
        .unusable("wrong-type", "\(name) is not \(wanted)", at: place)
    }
}
