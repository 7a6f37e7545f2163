internal import Foundation
internal import FoundationNetworking

/// The credentials that a configuration comes with.
///
/// Foundation for Linux compares protection spaces by identity. So this searches the storage for an equal space.
struct CredentialStore: Sendable {
    let storage: URLCredentialStorage?

    /// The default one for a space, else the first by name.
    func credential(for space: URLProtectionSpace) -> URLCredential? {
        guard let storage else { return nil }
        let stored = stored(space)
        if let credential = storage.defaultCredential(for: stored) { return credential }
        return storage.credentials(for: stored)?.min { $0.key < $1.key }?.value
    }

    /// Stores a credential that a server has accepted, for as long as its persistence says.
    func store(_ credential: URLCredential, for space: URLProtectionSpace) {
        storage?.set(credential, for: stored(space))
    }

    func removeAll() {
        guard let storage else { return }
        for (space, credentials) in storage.allCredentials {
            for credential in credentials.values { storage.remove(credential, for: space) }
        }
    }

    /// The space under which something is stored already.
    private func stored(_ space: URLProtectionSpace) -> URLProtectionSpace {
        storage?.allCredentials.keys.first { known in
            known.host.lowercased() == space.host.lowercased() && known.port == space.port
                && known.protocol == space.protocol && known.realm == space.realm
                && known.authenticationMethod == space.authenticationMethod && !known.isProxy()
        } ?? space
    }
}
