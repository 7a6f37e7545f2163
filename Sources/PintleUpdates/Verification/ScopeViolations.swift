internal import Pintle

/// The problems of the rules of an update, in the order of the rules. Each rule has at most one problem of each kind.
struct ScopeViolations {
    /// The kind of a problem. The problems of one rule are listed in the order of the cases.
    enum Kind: Hashable, Comparable {
        case host, anchors
        case path(PathTerm)
        case pins, enforcement, expiry, requires, includeSubdomains
        /// A report URL; the value is its position in the rule.
        case reportTo(Int)

        fileprivate var key: String {
            switch self {
            case .path(let term): "\(term)"
            case .reportTo(let position): "reportTo[\(position)]"
            default: "\(self)"
            }
        }
    }

    private struct Place: Hashable {
        let rule: Int
        let kind: Kind
    }

    private let maximum: Int
    private var found: [Place: (message: String, help: String)] = [:]
    private var unplaced: [ScopeViolation] = []

    init(maximum: Int) {
        self.maximum = maximum
    }

    var isFull: Bool { found.count >= maximum }

    /// Adds a problem. Keeps only the first message of each kind for a rule, and builds no other.
    ///
    /// - Parameters:
    ///   - kind: the kind of the problem.
    ///   - rule: the index of the rule in the update.
    ///   - message: returns the problem: one line, lower case, no full stop.
    ///   - help: returns what to change, in the same form.
    mutating func add(_ kind: Kind, of rule: Int, _ message: () -> String, help: () -> String) {
        let place = Place(rule: rule, kind: kind)
        guard !isFull, found[place] == nil else { return }
        found[place] = (message(), help())
    }

    /// Adds a problem that concerns no single rule.
    mutating func addUnplaced(path: String, message: String, help: String) {
        unplaced.append(ScopeViolation(path: path, message: message, help: help))
    }

    var all: [ScopeViolation] {
        let sorted = found.sorted { ($0.key.rule, $0.key.kind) < ($1.key.rule, $1.key.kind) }
        return unplaced
            + sorted.map { place, words in
                ScopeViolation(
                    path: "hosts[\(place.rule)].\(place.kind.key)", message: words.message, help: words.help)
            }
    }
}

/// Compares the anchors of rules. Caches the results, so that a pair of sets that many servers share is compared once.
struct AnchorComparison {
    private struct Sets: Hashable {
        let anchors: ObjectIdentifier
        let other: ObjectIdentifier
    }

    /// The number of certificates that were compared.
    private(set) var work = 0
    // The policies keep the identified objects alive, and they outlive the comparison.
    private var known: [Sets: Bool] = [:]

    /// Returns whether every root in the first set is also in the other.
    mutating func isNoWider(_ anchors: TrustAnchors, than other: TrustAnchors) -> Bool {
        if anchors.certificates.isEmpty { return anchors.isNoWider(than: other) }
        let sets = Sets(anchors: ObjectIdentifier(anchors.identity), other: ObjectIdentifier(other.identity))
        if let known = known[sets] { return known }
        work += anchors.certificates.count + other.certificates.count
        let isNoWider = anchors.isNoWider(than: other)
        known[sets] = isNoWider
        return isNoWider
    }
}
