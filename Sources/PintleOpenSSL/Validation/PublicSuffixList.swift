internal import CPublicSuffix

/// The public suffix list, through libpsl (https://publicsuffix.org).
///
/// The newer of the list built into the library and the one that the system keeps beside it. Loaded
/// when first asked; where neither is there, nothing is known to be a public suffix.
package enum PublicSuffixList {
    /// Whether registries hand out names directly under this one: `com`, `co.uk`.
    ///
    /// The list's first section alone counts. Suffixes of its private section (`github.io`,
    /// `s3.amazonaws.com`) belong to one owner, who rightly has wildcard certificates for them.
    ///
    /// - Parameter name: lower case ASCII, without a trailing dot.
    package static func contains(_ name: String) -> Bool {
        guard let list = shared.list else { return false }
        return psl_is_public_suffix2(list, name, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) == 1
    }

    /// A Boolean value that indicates whether a host may set a cookie for a domain around it: one that is not a public
    /// suffix, in either section of the list (RFC 6265bis section 5.7). `nil` where there is no list.
    ///
    /// - Parameters:
    ///   - host: lower case ASCII, without a trailing dot; not an address.
    ///   - domain: the same, without a leading dot.
    package static func allowsCookie(of host: String, for domain: String) -> Bool? {
        guard let list = shared.list else { return nil }
        return host != domain && psl_is_cookie_domain_acceptable(list, host, domain) == 1
            || host == domain && psl_is_public_suffix2(list, domain, PSL_TYPE_ANY) == 0
    }

    private static let shared = Handle()

    /// Sendable: the list is loaded once, never written again and never freed; libpsl documents its
    /// look-ups as thread-safe.
    private final class Handle: @unchecked Sendable {
        let list: OpaquePointer?

        init() {
            list = psl_latest(nil)
        }
    }
}
