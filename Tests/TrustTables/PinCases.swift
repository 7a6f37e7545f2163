internal import FoundationEssentials
internal import PintleTestKit

/// Pins of `NSPinnedDomains`. On Linux `pintle import --from ats` makes a policy of the same Info.plist.
extension TrustCase {
    private static let instant = Date(timeIntervalSince1970: 1_600_128_000)
    private static let leafList = "NSPinnedLeafIdentities"
    private static let authorityList = "NSPinnedCAIdentities"

    private static let mismatch = Verdicts.refused("pin-mismatch", "errSSLATSCertificateTrustViolation")
    private static let unusable = Verdicts.refused("nothing-pinned", "errSSLATSCertificateTrustViolation")

    private static func pinned(
        _ shape: String, host: String? = nil, label: String, _ entry: PinnedEntry, _ expected: Verdicts,
        difference: String = ""
    ) -> TrustCase {
        // Names of their own, because the entries of all cases are in one Info.plist.
        let domain = "\(label).example.com"
        let host = host.map { "\($0)\(domain)" } ?? domain
        var entry = entry
        entry.name = domain
        let trailing = host.hasSuffix(".") ? String(host.dropLast()) : host
        return TrustCase(
            shape, host: host, at: instant, anchor: .system, pins: [entry], expected, difference: difference
        ) {
            func year(_ template: inout CertificateTemplate) {
                template.notBefore = .date(Date(timeIntervalSince1970: 1_590_000_000))
                template.notAfter = .date(Date(timeIntervalSince1970: 1_620_000_000))
            }
            let root = try CertificateAuthority.root { year(&$0) }
            let authority = try root.intermediate { year(&$0) }
            return Path(try authority.issue(hosts: [trailing]) { year(&$0) }, to: root)
        }
    }

    static let pins: [TrustCase] = [
        pinned(
            "leaf list with the key", label: "leaf-good",
            PinnedEntry(lists: [(leafList, .positions([-1, 0]))]), .accepted),
        pinned("empty leaf list", label: "leaf-empty", PinnedEntry(lists: [(leafList, .positions([]))]), unusable),
        pinned(
            "leaf list without the key", label: "leaf-bad", PinnedEntry(lists: [(leafList, .positions([-1]))]),
            mismatch),
        pinned(
            "CA list with the key of the intermediate", label: "ca-good",
            PinnedEntry(lists: [(authorityList, .positions([-1, 1]))]), .accepted),
        pinned("empty CA list", label: "ca-empty", PinnedEntry(lists: [(authorityList, .positions([]))]), unusable),
        pinned(
            "CA list without a key of the path", label: "ca-bad",
            PinnedEntry(lists: [(authorityList, .positions([-1]))]), mismatch),
        pinned(
            "both lists match", label: "both-good",
            PinnedEntry(lists: [(leafList, .positions([-1, 0])), (authorityList, .positions([-1, 1, -1, 2]))]),
            .accepted),
        pinned(
            "only the CA list matches", label: "both-bad",
            PinnedEntry(lists: [(leafList, .positions([-1])), (authorityList, .positions([-1, 1, -1, 2]))]), mismatch),
        pinned(
            "entry without lists", label: "no-list", PinnedEntry(),
            Verdicts("accepted", "nothing-pinned", "accepted"), difference: "import: nothing is pinned"),
        pinned(
            "a string instead of the leaf list, strings in the CA list", label: "no-identity",
            PinnedEntry(lists: [(leafList, .text), (authorityList, .texts)]),
            .refused("wrong-type", "errSSLATSCertificateTrustViolation")),
        pinned(
            "one label below an entry for sub-domains, the host ends with a dot", host: "one.", label: "below",
            PinnedEntry(includesSubdomains: true, lists: [(authorityList, .positions([1]))]), .accepted),
        pinned(
            "one label below an entry for sub-domains, without a key of the path", host: "one.", label: "below-bad",
            PinnedEntry(includesSubdomains: true, lists: [(authorityList, .positions([-1]))]), mismatch),
    ]
}
