internal import Pintle
internal import PintleCrypto
internal import PintlePolicyFile

/// A DSSE envelope, version 1: a payload, its type, and signatures over both.
///
/// The content is not trusted; `UpdateVerifier` checks it. Unknown members are ignored, as DSSE requires. Duplicate
/// members, broken UTF-8 and exceeded limits are errors.
package struct SignedEnvelope: Sendable {
    package struct Signature: Sendable {
        /// The key id in the envelope. It is only a hint, because it is not signed.
        package let keyID: String?
        /// The signature, of any length: an envelope may also have signatures of other algorithms.
        package let bytes: [UInt8]

        package init(keyID: String?, bytes: [UInt8]) {
            self.keyID = keyID
            self.bytes = bytes
        }
    }

    package static let policyType = "application/vnd.pintle.policy+json"
    /// The size limit of the envelope's file.
    package static let maximumBytes = 16 << 20
    /// The maximum number of JSON values of an envelope. It is parsed before a signature is checked, and a million
    /// short values would take more memory than an app may have.
    static let maximumValues = 10_000
    package static let maximumSignatures = 16
    /// The limit of the bytes that are hashed to find the signers. It allows every signature with every key for an
    /// update of one megabyte, and every signature with the key that it names for the largest update.
    package static let maximumHashedBytes = 256 << 20

    package let payloadType: String
    /// The signed bytes: DSSE's pre-authentication encoding, which is unique for each pair of type and payload.
    package let signedBytes: [UInt8]
    private let payloadStart: Int
    package var signatures: [Signature]

    /// The payload, whose exact bytes were signed. Each access copies it.
    package var payload: [UInt8] { Array(signedBytes[payloadStart...]) }

    /// The SHA-256 of the payload.
    var payloadDigest: SHA256Digest {
        SHA256Digest(hashing: signedBytes[payloadStart...])
    }

    package init(payloadType: String = policyType, payload: [UInt8], signatures: [Signature] = []) {
        self.payloadType = payloadType
        let head = Self.head(payloadType: payloadType, payloadCount: payload.count)
        signedBytes = head + payload
        payloadStart = head.count
        self.signatures = signatures
    }

    /// Parses an envelope. Accepts base64 in both alphabets, with and without padding.
    package init(_ bytes: [UInt8]) throws(UpdateError.Reason) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLarge(maximum: Self.maximumBytes) }
        let root = try Self.document(bytes)
        let type = try Self.string("payloadType", of: root)
        payloadType = type
        let payload = try Self.base64("payload", of: root)
        let head = Self.head(payloadType: type, payloadCount: payload.count)
        signedBytes = head + payload
        payloadStart = head.count
        guard let list = root["signatures"] else { throw Self.malformed(root, "the envelope has no \"signatures\"") }
        guard let elements = list.elements else { throw Self.malformed(list, "\"signatures\" is not a list") }
        guard list.count <= Self.maximumSignatures else {
            throw Self.malformed(list, "\(list.count) signatures; at most \(Self.maximumSignatures) are tried")
        }
        signatures = []
        for element in elements {
            guard element.kind == .object else { throw Self.malformed(element, "a signature is not an object") }
            let keyID = element["keyid"] == nil ? nil : try Self.string("keyid", of: element)
            signatures.append(Signature(keyID: keyID, bytes: try Self.base64("sig", of: element)))
        }
    }

    /// Returns the part of the signed bytes before the payload.
    private static func head(payloadType: String, payloadCount: Int) -> [UInt8] {
        Array("DSSEv1 \(payloadType.utf8.count) \(payloadType) \(payloadCount) ".utf8)
    }

    /// The envelope as a file, UTF-8.
    package var json: [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("payload", Base64.encode(payload))
            $0.member("payloadType", payloadType)
            $0.array("signatures") {
                for signature in signatures {
                    $0.object {
                        if let keyID = signature.keyID { $0.member("keyid", keyID) }
                        $0.member("sig", Base64.encode(signature.bytes))
                    }
                }
            }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Parses the envelope in a file as an object. Does not check its members.
    static func document(_ bytes: [UInt8]) throws(UpdateError.Reason) -> JSONValue {
        let document: JSONDocument
        do {
            document = try JSONDocument(
                bytes,
                limits: .init(
                    maximumBytes: maximumBytes, maximumDepth: 16, maximumValues: maximumValues, allowsAnyNumber: true))
        } catch {
            throw .malformedEnvelope(MalformedDocument(error))
        }
        let root = document.root
        guard root.kind == .object else { throw malformed(root, "the envelope is \(root.kind), not an object") }
        return root
    }

    static func malformed(_ value: JSONValue, _ message: String) -> UpdateError.Reason {
        .malformedEnvelope(MalformedDocument(message, at: value.place))
    }

    private static func string(_ key: StaticString, of object: JSONValue) throws(UpdateError.Reason) -> String {
        guard let value = object[key] else { throw malformed(object, "there is no \"\(key)\"") }
        guard let string = value.string else { throw malformed(value, "\"\(key)\" is not a string") }
        return string
    }

    private static func base64(_ key: StaticString, of object: JSONValue) throws(UpdateError.Reason) -> [UInt8] {
        guard let value = object[key] else { throw malformed(object, "there is no \"\(key)\"") }
        guard let text = value.stringSlice else { throw malformed(value, "\"\(key)\" is not a string") }
        do {
            return try Base64.decode(text)
        } catch {
            throw malformed(value, "\"\(key)\" is not base64: byte \(error.offset) of it")
        }
    }
}

// MARK: Signers

extension SignedEnvelope {
    /// Returns the trusted keys that signed, each once, in the order of ``UpdateTrust/keys``.
    ///
    /// Each signature is tried with each key, whatever its key id says, because the id is not signed. Each try hashes
    /// the whole message, and an unsigned envelope can cause 256 tries. If they would exceed the limit, each signature
    /// is tried first with the key that it names, and then with the other keys until the limit is reached. A signature
    /// that is repeated is tried only once with each key.
    ///
    /// - Parameters:
    ///   - trust: the keys to try.
    ///   - maximumBytes: the most bytes that are hashed.
    package func signers(trustedBy trust: UpdateTrust, hashing maximumBytes: Int) -> [UpdateKey] {
        let keys = trust.keys
        let signatures = distinctSignatures
        var tries = maximumBytes / signedBytes.count
        guard tries < keys.count * signatures.count else {
            return keys.filter { key in signatures.contains { isValid($0, by: key) } }
        }
        var signers: Set<Int> = []
        let ids = keys.map(\.id)
        for isNamed in [true, false] {
            for signature in signatures {
                for (index, key) in keys.enumerated() where signature.keyIDs.contains(ids[index]) == isNamed {
                    guard !signers.contains(index) else { continue }
                    guard tries > 0 else { return signers.sorted().map { keys[$0] } }
                    tries -= 1
                    if isValid(signature, by: key) { signers.insert(index) }
                }
            }
        }
        return signers.sorted().map { keys[$0] }
    }

    /// Bytes that the envelope lists as a signature, and all key ids that it lists with them.
    private struct DistinctSignature {
        let bytes: [UInt8]
        var keyIDs: [String]
    }

    /// The Ed25519 signatures in the envelope's order, each once. Signatures of other algorithms are skipped, so that
    /// they cause no hashing.
    private var distinctSignatures: [DistinctSignature] {
        var distinct: [DistinctSignature] = []
        for signature in signatures where signature.bytes.count == Ed25519.signatureSize {
            let keyIDs = signature.keyID.map { [$0] } ?? []
            if let known = distinct.firstIndex(where: { $0.bytes == signature.bytes }) {
                distinct[known].keyIDs += keyIDs
            } else {
                distinct.append(DistinctSignature(bytes: signature.bytes, keyIDs: keyIDs))
            }
        }
        return distinct
    }

    private func isValid(_ signature: DistinctSignature, by key: UpdateKey) -> Bool {
        Ed25519.isValid(signature: signature.bytes, of: signedBytes, publicKey: key.rawRepresentation)
    }
}

// MARK: More signatures

extension SignedEnvelope {
    /// Returns an envelope's file with signatures appended to its list. All other bytes stay unchanged, including
    /// unknown members, their order and white space, because other programs may need them.
    ///
    /// - Parameters:
    ///   - added: the signatures to append.
    ///   - file: an envelope that ``init(_:)`` can parse.
    package static func appending(_ added: [Signature], to file: [UInt8]) throws(UpdateError.Reason) -> [UInt8] {
        let root = try document(file)
        guard let list = root["signatures"], let elements = list.elements else {
            throw malformed(root, "the envelope has no list of \"signatures\"")
        }
        var last: JSONValue?
        for element in elements { last = element }
        // After the last signature, or after the opening bracket.
        let place = last?.endOffset ?? list.offset + 1
        var text: [UInt8] = []
        for (index, signature) in added.enumerated() {
            if index > 0 || last != nil { text.append(UInt8(ascii: ",")) }
            let keyID = signature.keyID.map { "      \"keyid\": \(JSONWriter.quoted($0)),\n" } ?? ""
            text += "\n    {\n\(keyID)      \"sig\": \"\(Base64.encode(signature.bytes))\"\n    }".utf8
        }
        if last == nil, !added.isEmpty { text += "\n  ".utf8 }
        return Array(file[..<place]) + text + file[place...]
    }
}
