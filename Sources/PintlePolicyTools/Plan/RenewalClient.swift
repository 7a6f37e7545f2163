/// A program that renews the certificates of a server, with its defaults of mid-2026.
///
/// Most follow the time that the authority asks for (ACME renewal information, RFC 9773) if there is one. Authorities
/// ask for about the same day, so plans do without it. The article on choosing pins has this table for readers.
enum RenewalClient: String, CaseIterable {
    case certbot
    case certManager = "cert-manager"
    case acmeSh = "acme.sh"
    case lego
    case caddy
    case traefik
    case step

    /// The time of a renewal.
    private enum Time {
        /// After two thirds of the lifetime, or after half of it if it has at most so many days.
        case twoThirds(halfUpTo: Int = 0)
        /// This many days after the certificate was issued. Authorities of certificates that do not live as long ask
        /// for a renewal after about two thirds of the lifetime.
        case after(days: Int)
        /// This many days before the end.
        case beforeEnd(days: Int)
    }

    private var defaults: (makesNewKeys: Bool, keepsKey: String, time: Time) {
        switch self {
        case .certbot: (true, "--reuse-key", .twoThirds(halfUpTo: 9))
        // The default is `Always` since version 1.18.
        case .certManager: (true, "rotationPolicy: Never", .twoThirds())
        // 30 days since version 3.1.3, less one.
        case .acmeSh: (false, "no --always-force-new-domain-key", .after(days: 29))
        case .lego: (true, "--reuse-key", .twoThirds(halfUpTo: 10))
        case .caddy: (true, "reuse_private_keys", .twoThirds())
        // The days follow from `certificatesDuration`, which does not look at the certificate.
        case .traefik: (false, "nothing to set", .beforeEnd(days: 30))
        case .step: (false, "step ca renew, not rekey", .twoThirds())
        }
    }

    /// A Boolean value that indicates whether each renewal makes a new key by default.
    var makesNewKeys: Bool { defaults.makesNewKeys }

    /// The setting with which all renewals keep one key: `--reuse-key`
    var keepsKey: String { defaults.keepsKey }

    /// Returns the whole days from the beginning of a certificate to its renewal; at least one.
    ///
    /// - Parameter lifetime: the days for which the certificate is valid.
    func daysToRenewal(ofLifetime lifetime: Int) -> Int {
        let days =
            switch defaults.time {
            case .twoThirds(let short): lifetime <= short ? lifetime / 2 : lifetime * 2 / 3
            case .after(let days): min(days, lifetime * 2 / 3)
            case .beforeEnd(let days): lifetime - days
            }
        return max(1, days)
    }
}
