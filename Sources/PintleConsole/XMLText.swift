internal import PintleText

/// Escapes text for XML.
package enum XMLText {
    /// Escapes the content of an element, or of an attribute in double quotes.
    package static func escape(_ text: String) -> String {
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

/// Escapes text for a page, so that it can neither become markup nor reorder the text around it.
package enum HTMLText {
    /// Escapes the content of an element, or of an attribute in quotes of either kind.
    package static func escape(_ text: String) -> String {
        XMLText.escape(SafeText.escape(text)).replacing("'", with: "&#39;")
    }
}
