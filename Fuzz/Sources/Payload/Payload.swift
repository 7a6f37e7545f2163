import FoundationEssentials

@testable import Pintle
@testable import PintleCrypto
@testable import PintlePolicyFile
@testable import PintleUpdates

/// A signed payload of any bytes. If it is accepted, it is in scope, valid at that instant and has its own version. It
/// is accepted again with the same result, and refused with a floor above it.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let seed = [UInt8](repeating: 7, count: 32)
    let bundledText = """
        {"version": 1, "hosts": [{"host": "example.com", "includeSubdomains": true,
         "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="], "backupPins": "none-accepted"}]}
        """
    guard let raw = Ed25519.publicKey(ofSeed: seed), let key = try? UpdateKey(rawRepresentation: raw),
        let trust = try? UpdateTrust(keys: [key]), let bundled = try? PinningPolicy(json: Array(bundledText.utf8))
    else { fatalError("the scene") }
    var envelope = SignedEnvelope(payload: Array(UnsafeBufferPointer(start: bytes, count: count)))
    guard let signature = Ed25519.signature(of: envelope.signedBytes, seed: seed) else { fatalError("no signature") }
    envelope.signatures = [.init(keyID: nil, bytes: signature)]
    let file = envelope.json
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let verifier = UpdateVerifier(trust: trust, bundled: bundled)
    do throws(UpdateError) {
        let update = try verifier.verify(file, floor: nil, at: now)
        guard update.issuedAt <= now, now < update.expiresAt, update.version >= 1,
            update.policy.updateVersion == update.version, !update.isUnchanged
        else { fatalError("taken against its dates or number") }
        for host in update.policy.hosts {
            let name = host.host.description
            guard name == "example.com" || name.hasSuffix(".example.com"), host.anchors == .system,
                host.reportTo.isEmpty,
                host.withdrawalReason != nil || !host.pins.isEmpty && host.enforcement == .enforce
            else { fatalError("taken out of scope: \(host)") }
        }
        let floor = update.floor(for: trust)
        let again = try verifier.verify(file, floor: floor, at: now)
        guard again.isUnchanged, again.policy.hasSameRules(as: update.policy) else { fatalError("changed") }
        let above = UpdateFloor(
            version: update.version + 1, keySetID: trust.keySetID, payloadDigest: update.payloadDigest)
        if (try? verifier.verify(file, floor: above, at: now)) != nil { fatalError("taken below the floor") }
    } catch {
        switch error.code {
        case .tooLarge, .malformedEnvelope, .invalidSignature, .thresholdNotMet, .unknownPayloadType:
            fatalError("the envelope is good: \(error)")
        default: break
        }
    }
    return 0
}
