/// A part of a reference page under a title of its own.
struct ReferenceSection: Sendable {
    enum Block: Sendable {
        /// Words between backticks are code, as in every text here except `verbatim`.
        case paragraph(String)
        case list([String])
        /// Lines as they are: a command with its output, or JSON.
        case verbatim(String)
        /// Names with their meanings.
        case definitions([(name: String, meaning: String)])
        /// Names with short facts, under two headings that only the web page shows.
        case table(String, String, [(name: String, meaning: String)])
        /// Commands with their summaries.
        case commands([Command])
    }

    let title: String
    let blocks: [Block]

    init(_ title: String, _ blocks: Block...) {
        self.init(title, blocks: blocks)
    }

    init(_ title: String, blocks: [Block]) {
        self.title = title
        self.blocks = blocks
    }

    /// The keys of a command's JSON.
    ///
    /// - Parameters:
    ///   - introduction: paragraphs above the table.
    ///   - keys: the keys without backticks, separated by a comma and a blank if they share a meaning.
    static func json(_ introduction: String..., keys: [(name: String, meaning: String)]) -> ReferenceSection {
        let rows = keys.map { (name: MarkedText.codes($0.name), meaning: $0.meaning) }
        return ReferenceSection("JSON", blocks: introduction.map { .paragraph($0) } + [.table("Key", "Value", rows)])
    }
}
