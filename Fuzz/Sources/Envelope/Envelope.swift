@testable import Pintle
@testable import PintleUpdates

/// A parsed envelope is printed in a form that parses to the same envelope. Another signature can be appended to the
/// original file. The signed bytes contain their lengths. No envelope has a valid signer.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(UpdateError.Reason) {
        let envelope = try SignedEnvelope(input)
        guard envelope.signatures.count <= SignedEnvelope.maximumSignatures else { fatalError("too many signatures") }
        let again = try SignedEnvelope(envelope.json)
        guard again.payload == envelope.payload, again.payloadType == envelope.payloadType,
            again.signatures.map(\.bytes) == envelope.signatures.map(\.bytes), again.signedBytes == envelope.signedBytes
        else { fatalError("printed differently") }
        let head = Array(
            "DSSEv1 \(envelope.payloadType.utf8.count) \(envelope.payloadType) \(envelope.payload.count) ".utf8)
        guard envelope.signedBytes.starts(with: head),
            envelope.signedBytes.dropFirst(head.count) == envelope.payload[...]
        else { fatalError("signed bytes") }
        let added = SignedEnvelope.Signature(keyID: "\"", bytes: [0x50])
        if envelope.signatures.count < SignedEnvelope.maximumSignatures {
            guard let longer = try? SignedEnvelope(SignedEnvelope.appending([added], to: input)),
                longer.signedBytes == envelope.signedBytes,
                longer.signatures.map(\.bytes) == envelope.signatures.map(\.bytes) + [added.bytes]
            else { fatalError("a signature more is another envelope") }
        }
    } catch {
        guard case .malformedEnvelope(let problem) = error, problem.line >= 1 else { fatalError("\(error)") }
    }
    guard let key = try? UpdateKey(rawRepresentation: [UInt8](repeating: 0x58, count: 31) + [0x66]),
        let trust = try? UpdateTrust(keys: [key]), let policy = try? PinningPolicy(hosts: [])
    else { return 0 }
    let verifier = UpdateVerifier(trust: trust, bundled: policy)
    if (try? verifier.verifyStored(input, floor: nil)) != nil { fatalError("verified by a key that signed nothing") }
    return 0
}
