package import Pintle
internal import PintleCrypto
internal import PintlePolicyFile

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Decides whether an update may replace the policy in force. A pure function of its inputs.
///
/// The checks run in this order, and the first failure ends them: size, envelope, signatures, payload type, payload,
/// version, `issuedAt`, `expiresAt`, scope, policy.
package struct UpdateVerifier: Sendable {
    /// The trusted keys and the number of signatures that an update needs.
    package let trust: UpdateTrust
    /// The policy that the app ships. The scope of an update is always compared with this policy, never with an earlier
    /// update. With `nil` the scope and the bundled version are not checked; only the command line does this.
    package let bundled: PinningPolicy?
    /// Returns whether a domain is a public suffix, as in
    /// `PinningPolicy.init(json:resolvingFile:isPublicSuffix:)`.
    package var isPublicSuffix: @Sendable (String) -> Bool = { _ in false }
    /// The limit ``SignedEnvelope/maximumHashedBytes``; tests lower it.
    package var maximumHashedBytes = SignedEnvelope.maximumHashedBytes

    /// - Parameters:
    ///   - trust: the keys that the app ships.
    ///   - bundled: the policy that the app ships.
    package init(trust: UpdateTrust, bundled: PinningPolicy) {
        self.init(trust: trust, unscoped: bundled)
    }

    package init(trust: UpdateTrust, unscoped bundled: PinningPolicy?) {
        self.trust = trust
        self.bundled = bundled
    }

    /// Checks an update that was just fetched.
    ///
    /// - Parameters:
    ///   - envelope: the bytes as they arrived: DSSE, JSON, UTF-8.
    ///   - floor: the highest version that was adopted before. A floor that was reached under other keys does not
    ///     count.
    ///   - minimumVersion: a second lower limit of the version, besides the floor.
    ///   - now: the instant with which both dates are compared.
    package func verify(
        _ envelope: [UInt8], floor: UpdateFloor?, minimumVersion: Int = 0, at now: Date
    ) throws(UpdateError) -> VerifiedUpdate {
        try verify(envelope, floor: floor, minimumVersion: minimumVersion, adoptingAt: now)
    }

    /// Checks a stored update. Ignores its dates, because an adopted update stays active: otherwise an attacker could
    /// choose the policy by blocking updates.
    ///
    /// - Parameters:
    ///   - envelope: the bytes that were adopted.
    ///   - floor: the higher one of the floor's two copies.
    package func verifyStored(_ envelope: [UInt8], floor: UpdateFloor?) throws(UpdateError) -> VerifiedUpdate {
        try verify(envelope, floor: floor, minimumVersion: 0, adoptingAt: nil)
    }

    /// Returns the floor that the adoption of a stored update has set; `nil` unless its signatures hold and it has a
    /// version. The update may be refused for any other reason.
    package func floor(ofSigned bytes: [UInt8]) -> UpdateFloor? {
        guard let signed = try? authenticate(bytes), case .number(let version) = signed.payload.version, version > 0
        else { return nil }
        return UpdateFloor(version: version, keySetID: trust.keySetID, payloadDigest: signed.digest)
    }

    private func authenticate(
        _ bytes: [UInt8]
    ) throws(UpdateError) -> (payload: UpdatePayload, digest: SHA256Digest, signers: [UpdateKey]) {
        let envelope = try Self.attempt { () throws(UpdateError.Reason) in try SignedEnvelope(bytes) }
        let signers = envelope.signers(trustedBy: trust, hashing: maximumHashedBytes)
        guard !signers.isEmpty else { throw UpdateError(.invalidSignature) }
        guard signers.count >= trust.threshold else {
            throw UpdateError(
                .thresholdNotMet(valid: signers.count, needed: trust.threshold), signers: signers)
        }
        guard envelope.payloadType == SignedEnvelope.policyType else {
            throw UpdateError(.unknownPayloadType(envelope.payloadType), signers: signers)
        }
        let payload = try Self.attempt(signers: signers) { () throws(UpdateError.Reason) in
            try UpdatePayload(envelope.payload)
        }
        return (payload, envelope.payloadDigest, signers)
    }

    private func verify(
        _ bytes: [UInt8], floor: UpdateFloor?, minimumVersion: Int, adoptingAt now: Date?
    ) throws(UpdateError) -> VerifiedUpdate {
        let (payload, digest, signers) = try authenticate(bytes)
        let floor = floor.flatMap { $0.keySetID == trust.keySetID ? $0 : nil }
        let number = if case .number(let number) = payload.version { number } else { Int?.none }
        return try Self.attempt(version: number, signers: signers) { () throws(UpdateError.Reason) in
            let version = try checkVersion(payload.version, floor: floor, minimumVersion: minimumVersion)
            if let floor, version == floor.version, digest != floor.payloadDigest { throw .replacedVersion(version) }
            // No floor of this version exists, so compare with the bundled policy, which has the same version.
            if let bundled, floor?.version != version, version == bundled.updateVersion,
                let policy = try? EmbeddedPolicy(payload.policy, isPublicSuffix: isPublicSuffix).policy,
                !policy.hasSameRules(as: bundled)
            {
                throw .replacedVersion(version)
            }
            if let now {
                guard payload.issuedAt <= now else { throw .notYetIssued(payload.issuedAt) }
                guard now < payload.expiresAt else { throw .expired(payload.expiresAt) }
            }
            let policy = try policy(in: payload).numbered(version)
            return VerifiedUpdate(
                version: version, issuedAt: payload.issuedAt, expiresAt: payload.expiresAt, policy: policy,
                signers: signers, isUnchanged: version == max(floor?.version ?? 0, bundled?.updateVersion ?? 0),
                ignoredMembers: payload.ignoredMembers, payloadDigest: digest)
        }
    }

    private func checkVersion(
        _ version: UpdatePayload.Version, floor: UpdateFloor?, minimumVersion: Int
    ) throws(UpdateError.Reason) -> Int {
        // The first update has version 1, because 0 stands for a policy without a version.
        let lowest = max(floor?.version ?? 0, bundled?.updateVersion ?? 0, minimumVersion, 1)
        guard case .number(let number) = version else { throw .rollback(version: nil, floor: lowest) }
        guard number >= lowest else { throw .rollback(version: number, floor: lowest) }
        return number
    }

    private func policy(in payload: UpdatePayload) throws(UpdateError.Reason) -> PinningPolicy {
        let update: EmbeddedPolicy
        do throws(PolicyError) {
            update = try EmbeddedPolicy(payload.policy, isPublicSuffix: isPublicSuffix)
        } catch {
            // The scope of a policy that cannot be parsed cannot be judged.
            throw .invalidPolicy(error.problems)
        }
        let scope = bundled.map { UpdateScope(bundled: $0) }
        if let problems = scope?.problems(of: update), !problems.isEmpty { throw .outOfScope(problems) }
        guard let policy = update.policy else { throw .invalidPolicy(update.problems) }
        if let missing = scope?.missingHosts(in: update.hosts), !missing.isEmpty { throw .invalidPolicy(missing) }
        return policy
    }

    private static func attempt<Result>(
        version: Int? = nil, signers: [UpdateKey] = [], _ body: () throws(UpdateError.Reason) -> Result
    ) throws(UpdateError) -> Result {
        do {
            return try body()
        } catch {
            throw UpdateError(error, version: version, signers: signers)
        }
    }
}
