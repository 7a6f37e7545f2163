internal import COpenSSL
public import Pintle
internal import Synchronization

/// What "the system's roots" means, and the stores made of them.
///
/// Loaded when first needed. A file of roots is read once; in a directory OpenSSL looks for a root when a
/// chain first names it, so one that is put there while the process runs is found. Safe to use from any
/// thread.
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

    /// As many sets of private anchors as policies in use at a time may sensibly have; beyond them the
    /// oldest goes, and is made anew when it is asked for again.
    private static let rememberedStores = 64

    /// - Throws: which anchor OpenSSL cannot use. To leave it out would change in silence what a policy says.
    func store(for anchors: TrustAnchors) throws(PathFailure) -> AnchorStore {
        let found = stores.withLock { stores -> Result<AnchorStore, PathFailure> in
            if anchors.includesSystem, anchors.certificates.isEmpty, let store = stores.system {
                return .success(store)
            }
            if let known = stores.byIdentity.first(where: { $0.identity === anchors.identity }) {
                return .success(known.store)
            }
            return make(anchors).map { store in
                if anchors.includesSystem, anchors.certificates.isEmpty {
                    stores.system = store
                } else {
                    if stores.byIdentity.count == Self.rememberedStores { stores.byIdentity.removeFirst() }
                    stores.byIdentity.append((anchors.identity, store))
                }
                return store
            }
        }
        return try found.get()
    }

    private func make(_ anchors: TrustAnchors) -> Result<AnchorStore, PathFailure> {
        var references: [X509Reference] = []
        for anchor in anchors.certificates + (anchors.includesSystem ? replacement ?? [] : []) {
            if anchor.publicKey.hasUnnamedCurve {
                let text = "the anchor \(anchor.subject) has \(KeyAlgorithm.unnamedCurveText)"
                return .failure(PathFailure(.other, text: text))
            }
            guard let reference = X509Reference(der: anchor.der) else {
                return .failure(PathFailure(.other, text: "the library cannot use the anchor \(anchor.subject)"))
            }
            references.append(reference)
        }
        guard let store = AnchorStore(references, addingSystem: anchors.includesSystem && replacement == nil) else {
            return .failure(PathFailure(.other, text: "out of memory"))
        }
        return .success(store)
    }
}
