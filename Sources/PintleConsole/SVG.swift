/// Elements of SVG drawings. Each inserted text is escaped once. The classes are those of ``ReportStyle/sheet``.
package enum SVG {
    /// Returns a drawing that is as wide as the page.
    ///
    /// - Parameters:
    ///   - label: the drawing's content in words, for screen readers.
    ///   - stripes: the id of a striped pattern, which must be unique on the page.
    package static func drawing(width: Double, height: Double, label: String, stripes: String, _ lines: [String])
        -> String
    {
        """
        <svg viewBox="0 0 \(number(width)) \(number(height))" role="img" aria-label="\(HTMLText.escape(label))">
        <defs><pattern id="\(stripes)" width="6" height="6" patternUnits="userSpaceOnUse" \
        patternTransform="rotate(45)"><rect width="6" height="6" class="out"/>\
        <line x1="0" y1="0" x2="0" y2="6" class="stripe"/></pattern></defs>
        \(lines.joined(separator: "\n"))
        </svg>
        """
    }

    /// Returns elements with a title, which a browser shows beside the pointer.
    package static func titled(_ title: String, _ elements: String) -> String {
        "<g><title>\(HTMLText.escape(title))</title>\(elements)</g>"
    }

    package static func text(_ text: String, x: Double, y: Double, _ kind: String) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" class=\"\(kind)\">\(HTMLText.escape(text))</text>"
    }

    package static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) -> String {
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" class=\"\(kind)\"/>"
    }

    /// - Parameter more: attributes, such as the class.
    package static func rectangle(x: Double, y: Double, width: Double, height: Double, _ more: String) -> String {
        "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" \(more)/>"
    }

    /// Returns a number with one decimal.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
