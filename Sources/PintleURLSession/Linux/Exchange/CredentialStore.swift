internal import Foundation
internal import FoundationNetworking

/// The credentials of a configuration.
///
/// Foundation for Linux compares protection spaces by identity, so this type searches the storage for an equal space.
struct CredentialStore: Sendable {
    let storage: URLCredentialStorage?

    /// Returns the default credential for a space, or else the first by user name.
    func credential(for space: URLProtectionSpace) -> URLCredential? {
        guard let storage else { return nil }
        let stored = stored(space)
        if let credential = storage.defaultCredential(for: stored) { return credential }
        return storage.credentials(for: stored)?.min { $0.key < $1.key }?.value
    }

    /// Stores a credential that a server has accepted. Its persistence decides how long it is kept.
    func store(_ credential: URLCredential, for space: URLProtectionSpace) {
        storage?.set(credential, for: stored(space))
    }

    func removeAll() {
        guard let storage else { return }
        for (space, credentials) in storage.allCredentials {
            for credential in credentials.values { storage.remove(credential, for: space) }
        }
    }

    /// Returns the equal space that the storage already has, or else the given one.
    private func stored(_ space: URLProtectionSpace) -> URLProtectionSpace {
        storage?.allCredentials.keys.first { known in
            known.host.lowercased() == space.host.lowercased() && known.port == space.port
                && known.protocol == space.protocol && known.realm == space.realm
                && known.authenticationMethod == space.authenticationMethod && !known.isProxy()
        } ?? space
    }
}
