internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTestKit
internal import PintleUpdates

/// The store of updates in the demonstration's app, in a temporary folder of its own.
final class DemoUpdates {
    private let folder: TemporaryDirectory
    private let key: SigningKey
    private let bundled: PinningPolicy
    private var vault: UpdateVault

    init(_ bundled: PinningPolicy, under parent: String) throws(ToolError) {
        folder = try TemporaryDirectory.make(under: parent)
        key = try SigningKey.generate()
        self.bundled = bundled
        vault = try Self.open(folder.path, key, bundled)
    }

    /// The policy in force.
    var policy: PinningPolicy { vault.active.snapshot.policy }

    /// Returns an update as the publisher signs it.
    func sign(_ policy: PinningPolicy, version: Int, at now: Date) throws(ToolError) -> [UInt8] {
        try key.update(policy, version: version, issued: now, expires: now.addingTimeInterval(90 * 86_400))
    }

    /// Returns the code of the refusal; `nil` for an update that is in force now.
    func adopt(_ update: [UInt8], at now: Date) throws(ToolError) -> String? {
        do {
            _ = try vault.adopt(update, at: now)
            return nil
        } catch {
            guard case .rejected(let rejection) = error else { throw Self.failure(error) }
            return rejection.code.rawValue
        }
    }

    /// Ends and starts the app, so that it knows only the state on the disk.
    func restart() throws(ToolError) {
        vault = try Self.open(folder.path, key, bundled)
    }

    private static func open(
        _ folder: String, _ key: SigningKey, _ bundled: PinningPolicy
    ) throws(ToolError) -> UpdateVault {
        guard let trust = try? UpdateTrust(keys: [key.publicKey]) else { throw .unusable("no-key", "no key to trust") }
        do {
            return try UpdateVault(files: StoreFiles(folder: folder), trust: trust, bundled: bundled)
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: PolicyStoreError) -> ToolError { .unusable("unusable-store", "\(error)") }
}
