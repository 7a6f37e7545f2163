internal import COpenSSL
public import Pintle
internal import Synchronization

/// What "the system's roots" means, and the stores made of them.
///
/// Loaded when first needed and once: what a process trusts does not change under it. Safe to use from
/// any thread.
public final class SystemAnchors: Sendable {
    /// The roots of this machine: where OpenSSL looks for them, or `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    public static let shared = SystemAnchors(replacement: nil)

    private let replacement: [Certificate]?
    private let stores = Mutex(Stores())

    private struct Stores {
        var system: AnchorStore?
        var byIdentity: [(identity: TrustAnchors.Identity, store: AnchorStore)] = []
    }

    /// Other roots in the place of the machine's.
    public convenience init(replacedBy certificates: [Certificate]) {
        self.init(replacement: certificates)
    }

    private init(replacement: [Certificate]?) {
        self.replacement = replacement
    }

    /// Whether these bytes are one of the anchors that somebody has named, rather than the machine's.
    func names(_ der: [UInt8], in anchors: TrustAnchors) -> Bool {
        anchors.certificates.contains { $0.der == der }
            || anchors.includesSystem && (replacement?.contains { $0.der == der } ?? false)
    }

    /// As many sets of private anchors as policies in use at a time may sensibly have; a store beyond
    /// them is made anew.
    private static let rememberedStores = 64

    func store(for anchors: TrustAnchors) -> AnchorStore? {
        stores.withLock { stores in
            if anchors.includesSystem, anchors.certificates.isEmpty {
                if stores.system == nil { stores.system = make(anchors) }
                return stores.system
            }
            if let known = stores.byIdentity.first(where: { $0.identity === anchors.identity }) { return known.store }
            guard let store = make(anchors) else { return nil }
            if stores.byIdentity.count == Self.rememberedStores { stores.byIdentity.removeFirst() }
            stores.byIdentity.append((anchors.identity, store))
            return store
        }
    }

    private func make(_ anchors: TrustAnchors) -> AnchorStore? {
        var certificates = anchors.certificates
        if anchors.includesSystem { certificates += replacement ?? [] }
        return AnchorStore(
            certificates.compactMap { X509Reference(der: $0.der) },
            addingSystem: anchors.includesSystem && replacement == nil)
    }
}
