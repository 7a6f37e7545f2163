/// The notes in a policy file, for its readers. No decision depends on them, so policies that differ only in their
/// notes have the same rules, and exchanging them ends no connection.
package struct PolicyNotes: Sendable {
    /// The limit on the length of a note in Unicode scalars.
    static let maximumLength = 200

    /// The notes by the rule or the pin that they are about: `hosts[0]`, `hosts[0].pins[1]`.
    private var texts: [PolicyPath: String] = [:]
    /// The value of `$schema`, with which editors find a JSON Schema; `nil` if the file has none.
    package var schema: String?

    package init() {}

    package subscript(place: PolicyPath) -> String? {
        get { texts.isEmpty ? nil : texts[place] }
        set { texts[place] = newValue }
    }

    /// Returns the note about a place, or else about the nearest place around it.
    package func nearest(to place: PolicyPath) -> String? {
        if let text = self[place] { return text }
        return texts.isEmpty || place.isRoot ? nil : nearest(to: place.parent)
    }

    /// Returns what is wrong with a text as a note, or `nil`.
    package static func problem(of text: String) -> String? {
        let characters = text.unicodeScalars
        if characters.count > maximumLength { return "the note is longer than \(maximumLength) characters" }
        let controls: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        let isControl = { (character: Unicode.Scalar) in
            controls.contains(character.properties.generalCategory) || character.properties.isBidiControl
        }
        guard characters.contains(where: isControl) else { return nil }
        return "the note has a control character, such as a line break"
    }
}
