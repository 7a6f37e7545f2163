/// Escapes text for a page, so that it can neither become markup nor reorder the text around it.
enum HTMLText {
    /// Escapes the content of an element, or of an attribute in quotes of either kind.
    static func escape(_ text: String) -> String {
        XMLText.escape(SafeText.escape(text)).replacing("'", with: "&#39;")
    }
}
