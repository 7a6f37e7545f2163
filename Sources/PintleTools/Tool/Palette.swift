/// The few colours that are used, for one stream: without a terminal, or where colours are not wanted, text
/// stays as it is.
struct Palette: Sendable {
    let isColored: Bool

    /// Trusted, or blocked as it must be.
    func good(_ text: String) -> String { wrap(text, "32") }
    /// Rejected, let through, an error.
    func bad(_ text: String) -> String { wrap(text, "31") }
    /// A warning; accepted and reported.
    func warning(_ text: String) -> String { wrap(text, "33") }
    /// What matched.
    func strong(_ text: String) -> String { wrap(text, "1") }
    /// Times, paths, serial numbers.
    func dim(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: StaticString) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// - Parameter isWanted: whether the command line lets colours through.
    init(for sink: ByteSink, environment: [String: String], isWanted: Bool) {
        let isRefused = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        isColored = sink.isTerminal && isWanted && !isRefused
    }
}
