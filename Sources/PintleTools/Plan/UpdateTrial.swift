internal import Pintle
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
        var envelope = SignedEnvelope(
            payload: UpdatePayload.json(version: version, issuedAt: issued, expiresAt: expires, policy: policy))
        guard let signature = key.signature(of: envelope.signedBytes) else {
            throw .unusable("no-signature", "libcrypto fails")
        }
        envelope.signatures = [.init(keyID: key.publicKey.id, bytes: signature)]
        do {
            _ = try UpdateVerifier(trust: trust, bundled: bundled).verify(envelope.json, floor: nil, at: instant)
            return nil
        } catch {
            return error.reason
        }
    }
}
