/// A kind of attack, by the part of the client that must withstand it.
package enum AttackGroup: String, Sendable, Hashable, CaseIterable {
    /// The validation of the certificates and their path.
    case path
    /// The pins: interceptors whose authority the client trusts, and changes of a server that must not lock it out.
    case pins
    /// The comparison of names.
    case names
    /// The version of TLS.
    case transport
    /// The second server: after a redirect, or after a response that moves the request to another connection.
    case redirect
    /// The client's time and memory.
    case hold

    /// Mints the certificates of the group's attacks.
    func attacks(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        switch self {
        case .path: try AttackCatalogue.path(cast)
        case .pins: try AttackCatalogue.pins(cast)
        case .names: try AttackCatalogue.names(cast)
        case .transport: AttackCatalogue.transport(cast)
        case .redirect: try AttackCatalogue.redirect(cast)
        case .hold: try AttackCatalogue.hold(cast)
        }
    }
}
