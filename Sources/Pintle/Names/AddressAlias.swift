/// An address to which no host answers under that address: the system connects to another one.
///
/// A rule for the address that the system connects to does not cover the alias, so a request to the alias would go past
/// that rule. Sessions, handshakes and delegates therefore decide nothing about an alias.
package struct AddressAlias: Hashable, Sendable {
    /// The host in its canonical form, and the problem with it.
    package let message: String
    /// The remedy.
    package let hint: String

    /// `nil` where the host is a name or an address of its own.
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
