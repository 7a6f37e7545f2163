internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyLint
internal import PintlePolicyTools

/// The authorities that this machine and the families know. Pins of authorities outlive certificates: the next
/// certificate of a server may come from any of them.
struct RenewAuthorities {
    private let stores: [PublicAuthorities]
    private let families: AuthorityFamilies

    init(_ families: AuthorityFamilies, _ invocation: Invocation) {
        self.families = families
        stores =
            [PublicAuthorities(environment: invocation.environment)]
            + invocation.arguments.files(of: .anchors).map { PublicAuthorities(files: [$0], folders: []) }
    }

    /// Returns `true` for a pin that says so, of a root that the machine or `--anchors` has, or of the rule's own
    /// anchors.
    func contain(_ pin: Pin, of host: PinnedHost) -> Bool {
        switch pin.position {
        case .ca: return true
        case .leaf: return false
        case .any: break
        }
        if let key = pin.key, host.anchors.certificates.contains(where: { $0.publicKeyPin == key }) { return true }
        if families.family(of: pin) != nil { return true }
        return stores.contains { $0.name(pinnedBy: pin) != nil }
    }
}
