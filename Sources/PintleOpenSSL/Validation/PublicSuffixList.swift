internal import CPublicSuffix

/// The public suffix list, through libpsl (https://publicsuffix.org).
///
/// Uses the newer one of libpsl's built-in list and the system's list. Loaded lazily. If there is no list, no name
/// counts as a public suffix.
package enum PublicSuffixList {
    /// Returns whether registries hand out names directly below this one: `com`, `co.uk`.
    ///
    /// Only the first section of the list counts. A suffix of the private section (`github.io`, `s3.amazonaws.com`)
    /// belongs to one owner, who may have wildcard certificates for it.
    ///
    /// - Parameter name: lower-case ASCII, without a trailing dot.
    package static func contains(_ name: String) -> Bool {
        guard let list = shared.list else { return false }
        return psl_is_public_suffix2(list, name, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) == 1
    }

    /// Returns whether a host may set a cookie for a domain above it. The domain must not be a public suffix, in either
    /// section of the list (RFC 6265bis section 5.7). Returns `nil` if there is no list.
    ///
    /// - Parameters:
    ///   - host: lower-case ASCII, without a trailing dot; not an address.
    ///   - domain: lower-case ASCII, without a leading or trailing dot.
    package static func allowsCookie(of host: String, for domain: String) -> Bool? {
        guard let list = shared.list else { return nil }
        return host != domain && psl_is_cookie_domain_acceptable(list, host, domain) == 1
            || host == domain && psl_is_public_suffix2(list, domain, PSL_TYPE_ANY) == 0
    }

    private static let shared = Handle()

    /// Sendable: the list is loaded once, never changed and never freed. libpsl documents its look-ups as thread-safe.
    private final class Handle: @unchecked Sendable {
        let list: OpaquePointer?

        init() {
            list = psl_latest(nil)
        }
    }
}
