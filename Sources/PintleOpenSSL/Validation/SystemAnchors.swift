internal import COpenSSL
public import Pintle
internal import Synchronization

/// The roots that count as the system's, and a cache of the OpenSSL stores made from them.
///
/// Loaded lazily. A file of roots is read once. In a directory, OpenSSL looks for a root when a chain first names it,
/// so a root that is added while the process runs is found. Safe to use from any thread.
public final class SystemAnchors: Sendable {
    /// The roots of this machine, from OpenSSL's default places, or from `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    public static let shared = SystemAnchors(replacement: nil)

    private let replacement: [Certificate]?
    private let stores = Mutex(Stores())

    private struct Stores {
        var system: AnchorStore?
        var byIdentity: [(identity: TrustAnchors.Identity, store: AnchorStore)] = []
    }

    /// Creates anchors that replace the machine's roots.
    public convenience init(replacedBy certificates: [Certificate]) {
        self.init(replacement: certificates)
    }

    private init(replacement: [Certificate]?) {
        self.replacement = replacement
    }

    /// Returns whether the caller named this certificate as an anchor, rather than the machine.
    func names(_ der: [UInt8], in anchors: TrustAnchors) -> Bool {
        anchors.certificates.contains { $0.der == der }
            || anchors.includesSystem && (replacement?.contains { $0.der == der } ?? false)
    }

    /// The number of cached stores for private anchors, enough for the policies in use at a time. Beyond it the oldest
    /// store is dropped, and built again when it is needed.
    private static let rememberedStores = 64

    /// - Throws: an error that names the anchor that OpenSSL cannot use. Leaving it out would silently change the
    ///   policy.
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

    /// The number of stores that are ready, for tests.
    var readyStores: Int { stores.withLock { $0.byIdentity.count + ($0.system == nil ? 0 : 1) } }

    /// Makes the stores for these anchors, as far as they are remembered.
    func prepare(_ anchors: some Sequence<TrustAnchors>) {
        var seen: Set<ObjectIdentifier> = []
        for anchors in anchors where seen.insert(ObjectIdentifier(anchors.identity)).inserted {
            guard seen.count <= Self.rememberedStores else { return }
            _ = try? store(for: anchors)
        }
    }

    private func make(_ anchors: TrustAnchors) -> Result<AnchorStore, PathFailure> {
        let certificates = anchors.certificates + (anchors.includesSystem ? replacement ?? [] : [])
        var references: [X509Reference] = []
        for anchor in certificates {
            if anchor.publicKey.hasUnnamedCurve {
                let text = "the anchor \(anchor.subject) has \(KeyAlgorithm.unnamedCurveText)"
                return .failure(PathFailure(.other, text: text))
            }
            guard let reference = X509Reference(der: anchor.der) else {
                return .failure(PathFailure(.other, text: "the library cannot use the anchor \(anchor.subject)"))
            }
            references.append(reference)
        }
        let store = AnchorStore(
            references, read: certificates, addingSystem: anchors.includesSystem && replacement == nil)
        guard let store else {
            return .failure(PathFailure(.other, text: "out of memory"))
        }
        return .success(store)
    }
}
