internal import Pintle

/// Text on its way into XML.
enum XMLText {
    /// As content of an element or of an attribute in double quotes.
    static func escape(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            case "\t", "\n", "\r": safe += "&#\(scalar.value);"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}

/// A property list to write, keys in the order given.
enum PropertyListItem {
    case string(String)
    case boolean(Bool)
    case array([PropertyListItem])
    case dictionary([(key: String, value: PropertyListItem)])

    /// The XML form, with a comment after the document type.
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

/// Text on its way into a page: no part of it is markup, none of it reorders what stands around it.
enum HTMLText {
    /// As content of an element or of an attribute in quotes of either kind.
    static func escape(_ text: String) -> String {
        XMLText.escape(SafeText.escape(text)).replacing("'", with: "&#39;")
    }
}
