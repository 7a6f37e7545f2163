internal import Pintle

/// Text on its way into a page: no part of it is markup, none of it reorders what stands around it.
enum HTMLText {
    /// As content of an element or of an attribute in quotes of either kind.
    static func escape(_ text: String) -> String {
        XMLText.escape(SafeText.escape(text)).replacing("'", with: "&#39;")
    }
}
