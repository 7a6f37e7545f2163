internal import Pintle

/// Every id of an error or a warning about a policy, with its meaning. Ids are stable: scripts compare them, and the
/// documentation has an anchor for each.
enum PolicyProblemTable {
    struct Entry: Sendable {
        let id: String
        let severity: LintProblem.Severity
        /// One line, lower case, no full stop.
        let summary: String
    }

    static let entries: [Entry] = json + shape + rules + warnings

    /// The file cannot be read as JSON.
    private static let json = [
        error("unreadable-file", "the policy file cannot be read"),
        error("missing-resource", "a bundle without the policy file"),
        error("too-large", "the file is larger than 64 MiB"),
        error("byte-order-mark", "the file begins with a byte-order mark"),
        error("invalid-utf8", "the file is not UTF-8"),
        error("empty-document", "the file is empty"),
        error("unexpected-end", "the file ends inside a value"),
        error("unexpected-character", "a character that JSON does not have here"),
        error("comment", "JSON has no comments"),
        error("trailing-comma", "a comma before a closing bracket"),
        error("trailing-content", "something follows the document"),
        error("too-deep", "more than 16 arrays and objects in one another"),
        error("duplicate-key", "an object has a key twice"),
        error("malformed-number", "not a number as JSON writes it"),
        error("non-integer-number", "a number with a fraction or an exponent"),
        error("number-out-of-range", "a number that does not fit in 64 bits"),
        error("control-character", "a control character inside a string"),
        error("invalid-escape", "an escape that JSON does not have"),
        error("lone-surrogate", "half of a surrogate pair in an escape"),
    ]

    /// The JSON is not a policy.
    private static let shape = [
        error("wrong-type", "a value of another type than belongs here"),
        error("missing-key", "a key that must be there is not"),
        error("unknown-key", "a key that the format does not have"),
        error("unknown-value", "a word that is not one of those allowed here"),
        error("unsupported-version", "a version of the format that is not known"),
        error("invalid-update-version", "an update's number outside of 0 to 2^53 - 1"),
        error("invalid-date", "not a real date as RFC 3339 writes it"),
        error("invalid-host", "not a host name in ASCII form, nor an address"),
        error("invalid-port", "a port outside of 1 to 65535"),
        error("invalid-path-length", "a minimumPathLength outside of 1 to 10"),
        error("invalid-pin", "not a pin in any notation"),
        error("wrong-pin-length", "a hash of another length than SHA-256"),
        error("non-canonical-pin", "base64 with bits that belong to no byte"),
        error("empty-input-pin", "the hash of no bytes at all"),
        error("unsupported-hash", "a pin of another hash than SHA-256"),
        error("ambiguous-pin", "a pin with both a key and a certificate"),
        error("anchor-file-not-allowed", "a path where only certificates themselves may stand"),
        error("unreadable-anchor-file", "an anchor file that cannot be read"),
        error("no-anchor", "an anchor file without a certificate"),
        error("invalid-anchor", "a certificate that cannot be read, or something else, in an anchor file"),
        error("invalid-report-url", "not an https URL"),
        error("invalid-note", "a note is longer than 200 characters or has a control character"),
        error("empty-reason", "pins are withdrawn without a reason"),
    ]

    /// Rules that contradict themselves or one another.
    private static let rules = [
        error("address-with-subdomains", "an address with includeSubdomains"),
        error("no-pins", "a pinner that was given no pin"),
        error("backup-without-pin", "backup pins without pins in use"),
        error("no-backup-pin", "enforced pins without a backup"),
        error("duplicate-pin", "a pin that stands in a rule twice"),
        error("pin-without-position", "leafAndCA with a pin that does not say where it belongs"),
        error("leaf-and-ca-incomplete", "leafAndCA without pins of both kinds"),
        error("no-anchors", "a rule that trusts no root at all"),
        error("anchors-too-broad", "private anchors for everything under a public suffix"),
        error("duplicate-rule", "two rules for one host and port"),
        error("report-host-covered", "reports that go to a host with a rule"),
        error("more-problems", "problems beyond the first 1,000"),
    ]

    private static let warnings = [
        warning("nothing-pinned", "a policy without rules that refuses nothing"),
        warning("placeholder-pin", "one letter of base64 in the place of a pin"),
        warning("backup-in-use", "a backup pin for a key that is pinned as in use"),
        warning("shared-authority-only", "all pins are keys of public authorities"),
        warning("single-authority", "all pins are keys of one public authority"),
        warning("family-incomplete", "a root of a public authority without its other roots"),
        warning("fragile-pin", "a pin that the next renewal is likely to change"),
        warning("leaf-certificate-only", "pins in use that are a server's certificate, not its key"),
        warning("no-way-back", "enforced pins with neither backup nor expiry"),
        warning("expired", "pins that have passed their date"),
        warning("expires-soon", "pins that end within 90 days, or as told"),
        warning("report-only", "a rule that lets wrong keys through"),
        warning("anchor-expired", "a private root that has passed its date"),
        warning("path-length-without-effect", "a minimumPathLength of 1, which every path has"),
        warning("path-length-unusual", "a minimumPathLength that few public servers reach"),
        warning("issuer-key-of-leaf", "an issuerKey that is a pin of the leaf"),
        warning("issuer-key-of-root", "an issuerKey of a root that does not issue the leaf"),
        warning("public-suffix", "a rule for everything under a public suffix"),
        warning("port-rule-wins", "a rule with a port that decides before a rule with a longer name"),
        warning("rule-without-effect", "a rule with neither pins, anchors nor terms about the path"),
        warning("looser-than-parent", "a rule looser than that of the parent domain"),
        warning("subdomains-of-looser-parent", "a rule whose sub-domains fall to a looser one"),
        warning("similar-host", "two domains one letter apart"),
        warning("allow-without-effect", "an --allow of the command line that hides no warning"),
        warning("underscore-in-host", "a name with an underscore, for which no certificate is valid"),
    ]

    private static func error(_ id: String, _ summary: String) -> Entry {
        Entry(id: id, severity: .error, summary: summary)
    }

    private static func warning(_ id: String, _ summary: String) -> Entry {
        Entry(id: id, severity: .warning, summary: summary)
    }
}
