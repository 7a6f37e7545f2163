internal import PintleConsole

/// A value of a property list. Keys are written in the given order.
enum PropertyListItem {
    case string(String)
    case boolean(Bool)
    case array([PropertyListItem])
    case dictionary([(key: String, value: PropertyListItem)])

    /// Returns the property list as XML, with a comment after the document type.
    func document(comment: String) -> String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#,
            "<!-- \(comment) -->", #"<plist version="1.0">"#,
        ]
        append(to: &lines, indent: "")
        return (lines + ["</plist>", ""]).joined(separator: "\n")
    }

    private func append(to lines: inout [String], indent: String) {
        let inner = indent + "    "
        switch self {
        case .string(let text): lines.append("\(indent)<string>\(XMLText.escape(text))</string>")
        case .boolean(let boolean): lines.append("\(indent)<\(boolean)/>")
        case .array(let items):
            lines.append("\(indent)<array>")
            for item in items { item.append(to: &lines, indent: inner) }
            lines.append("\(indent)</array>")
        case .dictionary(let members):
            lines.append("\(indent)<dict>")
            for (key, value) in members {
                lines.append("\(inner)<key>\(XMLText.escape(key))</key>")
                value.append(to: &lines, indent: inner)
            }
            lines.append("\(indent)</dict>")
        }
    }
}
