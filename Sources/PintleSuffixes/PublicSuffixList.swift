internal import CPublicSuffix

/// The public suffix list, through libpsl (https://publicsuffix.org).
///
/// Without a list it is unknown under which names strangers may register. Then every name with fewer than three labels
/// counts as a public suffix, and no cookie may be for a domain.
package struct PublicSuffixList: Sendable {
    /// The newer one of libpsl's built-in list and the system's list. The first validator loads it.
    package static let system = PublicSuffixList(Handle(psl_latest(nil)))
    /// No list, as on a machine whose libpsl has none built in and finds none.
    package static let missing = PublicSuffixList(Handle(nil))

    /// The advice about a missing list.
    package static let remedy = "there is no public suffix list; install publicsuffix, or a libpsl with a built-in list"

    private let handle: Handle

    private init(_ handle: Handle) { self.handle = handle }

    package var isMissing: Bool { handle.list == nil }

    /// Returns whether registries hand out names directly below this one: `com`, `co.uk`.
    ///
    /// Only the first section of the list counts. A suffix of the private section (`github.io`, `s3.amazonaws.com`)
    /// belongs to one owner, who may have wildcard certificates for it.
    ///
    /// - Parameter name: lower-case ASCII, without a trailing dot.
    package func contains(_ name: String) -> Bool {
        guard let list = handle.list else { return name.utf8.count { $0 == UInt8(ascii: ".") } < 2 }
        return psl_is_public_suffix2(list, name, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) == 1
    }

    /// Returns whether the name is in either section of the list. Without a list, every top-level domain counts.
    ///
    /// - Parameter name: lower-case ASCII, without a trailing dot.
    package func containsAny(_ name: String) -> Bool {
        guard let list = handle.list else { return !name.contains(".") }
        return psl_is_public_suffix2(list, name, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1
    }

    /// Returns whether a host may set a cookie for itself with its sub-domains, or for a domain above it. The domain
    /// must not be a public suffix, in either section of the list (RFC 6265bis section 5.7).
    ///
    /// - Parameters:
    ///   - host: lower-case ASCII, without a trailing dot; not an address.
    ///   - domain: lower-case ASCII, without a leading or trailing dot.
    package func allowsCookie(of host: String, for domain: String) -> Bool {
        guard let list = handle.list else { return false }
        return host != domain && psl_is_cookie_domain_acceptable(list, host, domain) == 1
            || host == domain && psl_is_public_suffix2(list, domain, PSL_TYPE_ANY) == 0
    }

    /// Sendable: the list is never changed and never freed. libpsl documents its look-ups as thread-safe.
    private final class Handle: @unchecked Sendable {
        let list: OpaquePointer?

        /// A list that does not know `com` is none: its file is empty or damaged.
        init(_ list: OpaquePointer?) {
            self.list = list.flatMap { psl_is_public_suffix2($0, "com", PSL_TYPE_ICANN) == 1 ? $0 : nil }
        }
    }
}
