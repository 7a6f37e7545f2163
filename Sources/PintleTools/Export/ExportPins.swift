internal import Pintle

extension PublicKeyPin {
    /// The base64 alone.
    var base64: String { String(description.dropFirst("sha256/".count)) }

    /// A pin that no key has: the SHA-256 of a sentence, which is no key. It stands where a format wants two pins and
    /// there is one, and is left out again when the file is read back.
    static let ofNoKey = PublicKeyPin(
        digest: CertificatePin(certificate: Array("pintle: the second pin, which no key has".utf8)).digest)
}

extension ExportRule {
    /// `example.com`, or an address as URLs have it.
    var urlHost: String { host.ipAddress?.isIPv6 == true ? "[\(host)]" : host.description }

    /// What makes rules share an entry, where a format lets them.
    var terms: Terms {
        Terms(pins: pins, expiry: expiry, anchors: anchors, enforcement: enforcement, reportTo: reportTo)
    }

    struct Terms: Hashable {
        let pins: [Entry]
        let expiry: PinExpiry
        let anchors: TrustAnchors
        let enforcement: Enforcement
        let reportTo: [String]
    }

    /// `2027-11-20`
    var expiryDay: String? { expiry.date.map(ValidityText.day) }
}

extension [ExportRule] {
    /// Rules that ask for the same, together, in the order of the first of each.
    var grouped: [[ExportRule]] {
        var places: [ExportRule.Terms: Int] = [:]
        var groups: [[ExportRule]] = []
        for rule in self {
            if let place = places[rule.terms] {
                groups[place].append(rule)
            } else {
                places[rule.terms] = groups.count
                groups.append([rule])
            }
        }
        return groups
    }
}

/// The line that files begin with.
enum ExportRemark {
    static let text = "Written by pintle export; edit the policy, not this file."
}
