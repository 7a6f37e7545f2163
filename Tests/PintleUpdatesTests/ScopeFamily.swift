import FoundationEssentials
import Pintle

/// All policies that have, for each of a few places, none or one of a few rules.
struct ScopeFamily {
    /// A host and port, and the rules that the two policies may have for them.
    struct Place {
        let host: String
        let port: UInt16?
        let bundled: [PinnedHost?]
        let update: [PinnedHost?]
    }

    let places: [Place]
    var unpinned: [PinningPolicy.UnpinnedHosts] = [.systemTrust]
    var allowsAnyHost = [false]
    /// A Boolean value that indicates whether an update may treat hosts without a rule otherwise.
    var changesUnpinned = false
    /// The parts of the bundled policies and of the updates that each run takes: one in so many.
    var part = (bundled: 1, update: 1)

    /// The hosts of the places, the names below them, and a name that no rule covers; each port of a place, and one
    /// more.
    func endpoints() throws -> [ServerEndpoint] {
        let hosts = Set(places.flatMap { [$0.host, "x.\($0.host)"] } + ["other.test"]).sorted()
        let ports = Set(places.compactMap(\.port) + [80]).sorted()
        return try hosts.flatMap { host in try ports.map { ServerEndpoint(host: try ServerName(host), port: $0) } }
    }

    static func named(_ name: String, _ alphabet: ScopeAlphabet) throws -> ScopeFamily? {
        let rules = try Rules(alphabet)
        func place(_ host: String, _ kinds: [PinnedHost], port: UInt16? = nil) -> Place {
            Place(
                host: host, port: port, bundled: [nil] + kinds.flatMap(rules.wide),
                update: [nil] + kinds.flatMap(rules.wide).flatMap(rules.withdrawn))
        }
        let all = PinningPolicy.UnpinnedHosts.allCases
        let (bare, one, two) = (rules.rule(), rules.rule([alphabet.first]), rules.rule([alphabet.second]))
        let (parent, child, grandchild) = ("a.test", "b.a.test", "c.b.a.test")
        switch name {
        case "one rule":
            let place = Place(
                host: parent, port: nil, bundled: rules.everyRule, update: rules.everyRule.flatMap(rules.withdrawn))
            return ScopeFamily(places: [place], part: (23, 29))
        case "sub-domains":
            return ScopeFamily(
                places: [place(parent, rules.kinds)], unpinned: all, allowsAnyHost: [false, true], changesUnpinned: true
            )
        case "parent and child":
            let places = [place(parent, rules.kinds), place(child, rules.kinds)]
            return ScopeFamily(places: places, unpinned: all, part: (7, 23))
        case "port and child":
            return ScopeFamily(
                places: [place(parent, rules.kinds, port: 443), place(child, rules.kinds)], part: (7, 13))
        case "port and host":
            return ScopeFamily(
                places: [place(parent, rules.kinds), place(parent, rules.kinds, port: 443)], part: (7, 13))
        case "child, parent and its port":
            let places = [
                place(parent, [bare, one]), place(child, [bare, two]), place(parent, [bare, one], port: 443),
            ]
            return ScopeFamily(places: places, unpinned: all, allowsAnyHost: [false, true], part: (5, 23))
        case "child, its port and the parent's":
            let places = [
                place(child, [bare, two]), place(child, [bare, two], port: 443), place(parent, [bare, one], port: 443),
            ]
            return ScopeFamily(places: places, unpinned: all, part: (4, 23))
        case "three names":
            let places = [place(parent, [bare, one]), place(child, [bare, two]), place(grandchild, [bare, two])]
            return ScopeFamily(places: places, unpinned: all, part: (4, 23))
        case "two ports":
            let places = [
                place(parent, [bare, one]), place(parent, [bare, two], port: 443),
                place(parent, [bare, one], port: 8443),
            ]
            return ScopeFamily(places: places, unpinned: all, part: (4, 23))
        case "two names and two ports":
            func few(_ host: String, _ port: UInt16?, _ pinned: PinnedHost) -> Place {
                let (narrow, wide) = (pinned, pinned.with(includesSubdomains: true))
                let bare = bare.with(includesSubdomains: true)
                return Place(
                    host: host, port: port, bundled: [nil, narrow, wide, bare],
                    update: [nil, wide, bare] + rules.withdrawn(narrow))
            }
            let places = [
                few(parent, nil, one), few(parent, 443, one), few(child, nil, two), few(child, 443, two),
            ]
            return ScopeFamily(places: places, part: (5, 29))
        default: return nil
        }
    }

    static let names = [
        "one rule", "sub-domains", "parent and child", "port and child", "port and host", "child, parent and its port",
        "child, its port and the parent's", "three names", "two ports", "two names and two ports",
    ]
}

/// The rules of the families.
private struct Rules {
    private let alphabet: ScopeAlphabet

    private let host: ServerName

    init(_ alphabet: ScopeAlphabet) throws {
        self.alphabet = alphabet
        host = try ServerName("a.test")
    }

    func rule(
        _ pins: [Pin] = [], requires: PinRequirement = .anyPin, _ enforcement: Enforcement = .enforce,
        _ expiry: PinExpiry = .never, _ anchors: TrustAnchors = .system, _ terms: PathTerms = PathTerms()
    ) -> PinnedHost {
        var rule = PinnedHost(unchecked: host)
        (rule.pins, rule.backupRequirement, rule.requires) = (pins, .noneAccepted, requires)
        (rule.enforcement, rule.expiry, rule.anchors, rule.pathTerms) = (enforcement, expiry, anchors, terms)
        return rule
    }

    /// Returns the rule with and without its sub-domains.
    func wide(_ rule: PinnedHost) -> [PinnedHost] { [rule, rule.with(includesSubdomains: true)] }

    /// Returns the rule with and without a reason to withdraw pins.
    func withdrawn(_ rule: PinnedHost) -> [PinnedHost] {
        var withdrawn = rule
        withdrawn.withdrawalReason = "the key was stolen"
        return [rule, withdrawn]
    }

    private static let expiries: [PinExpiry] = [
        .never, .systemTrust(after: PolicyAlphabet.early), .systemTrust(after: PolicyAlphabet.late),
        .rejecting(after: PolicyAlphabet.early), .rejecting(after: PolicyAlphabet.late),
    ]

    /// One of each kind of rule.
    var kinds: [PinnedHost] {
        let one = [alphabet.first]
        return [
            rule(), rule(one), rule(one, .reportOnly, .rejecting(after: PolicyAlphabet.late)),
            rule(one, .enforce, .systemTrust(after: PolicyAlphabet.early)),
            rule(one, .enforce, .never, .only([alphabet.ours])),
            rule(one, .enforce, .never, .system, PathTerms(minimumLength: 3)),
            rule(one, .enforce, .never, .system, PathTerms(issuerKey: alphabet.intermediateKey)),
            rule([alphabet.firstAtLeaf, alphabet.intermediate], requires: .leafAndCA),
        ]
    }

    /// Every rule with these pins, dates, anchors and terms.
    var everyRule: [PinnedHost] {
        let both = [alphabet.firstAtLeaf, alphabet.intermediate]
        var pinned: [PinnedHost] = [rule()]
        for (pins, requires) in [
            ([alphabet.first], PinRequirement.anyPin), ([alphabet.first, alphabet.second], .anyPin),
            ([alphabet.firstCertificate], .anyPin), ([alphabet.firstAtLeaf], .anyPin),
            ([alphabet.intermediate], .anyPin),
            (both, .anyPin), (both, .leafAndCA),
        ] {
            for enforcement in Enforcement.allCases {
                pinned += Self.expiries.map { rule(pins, requires: requires, enforcement, $0) }
            }
        }
        let anchors: [TrustAnchors] = [
            .system, .only([alphabet.ours]), TrustAnchors([alphabet.ours], includesSystem: true),
            .only([alphabet.ours, alphabet.theirs]),
        ]
        let terms = [
            PathTerms(), PathTerms(minimumLength: 3), PathTerms(issuerKey: alphabet.intermediateKey),
            PathTerms(issuerKey: alphabet.systemKey),
        ]
        return pinned.flatMap { pinned in
            anchors.flatMap { anchors in
                terms.map { terms in
                    var rule = pinned
                    (rule.anchors, rule.pathTerms) = (anchors, terms)
                    return rule
                }
            }
        }
    }
}
