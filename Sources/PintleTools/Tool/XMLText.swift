/// Escapes text for XML.
enum XMLText {
    /// Escapes the content of an element, or of an attribute in double quotes.
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
