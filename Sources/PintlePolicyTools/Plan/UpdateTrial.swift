internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleUpdates

/// Checks with the verifier of the apps whether they would take a planned update. The update is signed with a temporary
/// key that the verifier trusts, so signatures are not tested. Floor, dates, scope and policy are.
struct UpdateTrial {
    private let key: SigningKey
    private let trust: UpdateTrust

    init() throws(ToolError) {
        key = try SigningKey.generate()
        guard let trust = try? UpdateTrust(keys: [key.publicKey]) else { throw .unusable("no-key", "no key to trust") }
        self.trust = trust
    }

    /// Returns the reason why an app that shipped with `bundled` would not take the update; `nil` if it would.
    func failure(
        of policy: PinningPolicy, version: Int, issued: Date, expires: Date, bundled: PinningPolicy, at instant: Date
    ) throws(ToolError) -> UpdateError.Reason? {
        let update = try key.update(policy, version: version, issued: issued, expires: expires)
        do {
            _ = try UpdateVerifier(trust: trust, bundled: bundled).verify(update, floor: nil, at: instant)
            return nil
        } catch {
            return error.reason
        }
    }
}
