/// An IP address that is only another spelling of an address: the system silently connects to that other address.
///
/// A rule for that other address does not cover the alias, so a request to the alias would bypass the rule. Sessions,
/// handshakes and delegates therefore refuse aliases.
package struct AddressAlias: Hashable, Sendable {
    /// The host in its canonical form and the problem with it.
    package let message: String
    /// The remedy.
    package let hint: String

    /// Returns `nil` unless the host is an alias.
    package init?(_ host: ServerName) {
        guard let address = host.ipAddress else { return nil }
        if address.isMappedIPv4 {
            message = "\(host) is an IPv4 address in the form of IPv6"
            hint = "write it as four decimal numbers"
        } else if address.isUnspecified {
            message = "\(host) is the unspecified address, which no host has"
            hint = "write 127.0.0.1 or [::1] for this machine"
        } else {
            return nil
        }
    }
}
