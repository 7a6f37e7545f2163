internal import Pintle

/// Text on its way into a page: no part of it is markup, none of it reorders what stands around it.
enum HTMLText {
    static func escape(_ text: String) -> String { XMLText.escape(SafeText.escape(text)) }
}
