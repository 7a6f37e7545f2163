internal import Pintle

/// Foreign text on its way to a terminal.
enum SafeText {
    /// What could move the cursor, colour the screen or reorder the line is written as `\u{1B}`; a line break
    /// is too.
    static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafeToPrint) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnsafeToPrint {
                safe += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
