internal import Pintle
package import PintleCrypto
internal import PintlePolicyFile

/// The highest version that was adopted, and the digest of its payload. The floor outlives the update, so that no older
/// update can be adopted after the store is lost.
package struct UpdateFloor: Sendable, Hashable {
    /// 1 to 2^53 - 1.
    package let version: Int
    /// The trusted keys under which the version was adopted, as ``UpdateTrust/keySetID``. The floor does not count
    /// under other keys.
    package let keySetID: String
    /// SHA-256 of the payload's exact bytes.
    package let payloadDigest: SHA256Digest

    package init(version: Int, keySetID: String, payloadDigest: SHA256Digest) {
        self.version = version
        self.keySetID = keySetID
        self.payloadDigest = payloadDigest
    }
}

extension UpdateFloor {
    /// The content of a copy of the floor, UTF-8.
    package var json: [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", version)
            $0.member("keySet", keySetID)
            $0.member("payloadSHA256", Hex.encode(payloadDigest.bytes))
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Parses ``json``; `nil` if no store wrote it.
    package init?(json: [UInt8]) {
        guard let root = try? JSONDocument(json, limits: .init(maximumBytes: Self.maximumBytes)).root,
            let version = root["version"]?.integer, 1...Int64(UpdatePayload.maximumVersion) ~= version,
            let keySetID = root["keySet"]?.string, let text = root["payloadSHA256"]?.string,
            let digest = (try? Hex.decode(text)).flatMap({ SHA256Digest(bytes: $0) })
        else { return nil }
        self.init(version: Int(version), keySetID: keySetID, payloadDigest: digest)
    }

    /// The size limit of ``json``, in bytes.
    package static let maximumBytes = 4_096
}
