internal import Pintle
package import PintleConsole
internal import PintleSystem
internal import PintleText

/// The reason why a rule is likely to stop matching a server that is not attacked.
package struct Fragility {
    /// Stable ids, which are also ids of problems.
    enum ID: String {
        /// A leaf that gets a new key, or an intermediate that is exchanged.
        case fragilePin = "fragile-pin"
        /// Roots of an authority without the other roots that it issues from.
        case familyIncomplete = "family-incomplete"
        /// Nothing but keys of one authority.
        case singleAuthority = "single-authority"
    }

    let id: ID
    /// The pin, or the name of the authority.
    let subject: String
    /// The instant until which the rule is likely to match; `nil` if nothing is known about it.
    let until: Date?
    /// The evidence: the authority's own words, the lifetime of the certificate, or earlier audits.
    let because: String
    package let remedy: String
    /// A Boolean value that indicates whether lint reports it as a problem of the server. What only follows from the
    /// habits of other servers is no problem, and the file's own problems are reported without a server.
    package var isProblem = true

    /// `sha256/... is likely to match until 2026-12-20 only: ...`
    package var message: String {
        let term = until.map { "until \(ValidityText.day($0)) only" } ?? "for a limited time only"
        return "\(subject) is likely to match \(term): \(because)"
    }

    package static let facts: [Fact<Fragility>] = [
        Fact("id") { $0.id.rawValue }, Fact("until") { $0.until }, Fact("because") { $0.because },
    ]
}
