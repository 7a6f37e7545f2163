internal import PintleCrypto

extension UpdateTrust {
    /// The trusted keys that signed, each counted once however often it did, in the order of ``keys``.
    ///
    /// Each signature is tried with each key, whatever its key id says: whoever wrote the envelope wrote that too. Each
    /// try hashes the whole message, and an envelope that nobody signed has up to 256 of them. Where they would hash more
    /// than `maximumBytes`, signatures are tried with the keys that they name first, and the rest as far as it goes.
    func signers(of envelope: SignedEnvelope, hashing maximumBytes: Int) -> [UpdateKey] {
        let message = envelope.signedBytes
        // Those of other algorithms cost nothing.
        let signatures = envelope.signatures.filter { $0.bytes.count == Ed25519.signatureSize }
        var tries = maximumBytes / message.count
        guard tries < keys.count * signatures.count else {
            return keys.filter { key in signatures.contains { isValid($0, of: message, by: key) } }
        }
        var signers: Set<Int> = []
        let ids = keys.map(\.id)
        for isNamed in [true, false] {
            for signature in signatures {
                for (index, key) in keys.enumerated() where (signature.keyID == ids[index]) == isNamed {
                    guard !signers.contains(index) else { continue }
                    guard tries > 0 else { return signers.sorted().map { keys[$0] } }
                    tries -= 1
                    if isValid(signature, of: message, by: key) { signers.insert(index) }
                }
            }
        }
        return signers.sorted().map { keys[$0] }
    }

    private func isValid(_ signature: SignedEnvelope.Signature, of message: [UInt8], by key: UpdateKey) -> Bool {
        Ed25519.isValid(signature: signature.bytes, of: message, publicKey: key.rawRepresentation)
    }
}
