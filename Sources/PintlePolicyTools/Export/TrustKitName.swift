internal import Pintle

/// A name as TrustKit 3.0 sees it, which ends the app at launch for some names. It has tables of its own; the public
/// suffix list of this machine is the nearest to them.
enum TrustKitName {
    /// TrustKit finds no suffix, and ends the app.
    case unknown
    /// A public suffix. TrustKit ends the app if the rule has sub-domains.
    case suffix
    case registered

    /// - Parameter isSuffix: returns whether a name is in either section of the public suffix list.
    init(_ host: ServerName, isSuffix: (String) -> Bool) {
        let labels = host.labels
        let domains = labels.indices.map { labels[$0...].joined(separator: ".") }
        if isSuffix(host.description) {
            self = .suffix
        } else if domains.contains(where: Self.unfinished.contains) || !domains.contains(where: isSuffix) {
            self = .unknown
        } else {
            self = .registered
        }
    }

    /// Domains that are no suffix, but have suffixes below them. TrustKit's search ends there without a result.
    private static let unfinished: Set<String> = [
        "akershus.no", "amazonaws.com", "amazonaws.com.cn", "amune.org", "buskerud.no", "cdn77-secure.org",
        "cdn77.net", "cdn77.org", "cldmail.ru", "cosidns.de", "dnstrace.pro", "evennode.com", "fastly.net",
        "fbsbx.com", "fedoraproject.org", "hedmark.no", "her.name", "his.name", "hordaland.no", "joyent.com",
        "lair.io", "lmpm.com", "metacentrum.cz", "more-og-romsdal.no", "muni.cz", "nodeart.io", "nordland.no",
        "ortsinfo.at", "ostfold.no", "party.eus", "prgmr.com", "resinstaging.io", "speedpartner.de", "telemark.no",
        "thingdust.io", "vestfold.no", "xn--mre-og-romsdal-qqb.no", "xn--stfold-9xa.no",
    ]
}
