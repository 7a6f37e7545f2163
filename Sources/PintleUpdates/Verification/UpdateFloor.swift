internal import Pintle
package import PintleCrypto

/// The highest version that was adopted, and which payload it was. It outlives the payload, so that a lost store does
/// not let old updates in again.
package struct UpdateFloor: Sendable, Hashable {
    /// 1 to 2^53 - 1.
    package let version: Int
    /// Names the trusted keys under which it was reached: see ``UpdateTrust/keySetID``. Under others it means nothing.
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
    /// The content of one copy of the floor, UTF-8.
    package var json: [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", version)
            $0.member("keySet", keySetID)
            $0.member("payloadSHA256", Hex.encode(payloadDigest.bytes))
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads ``json``; `nil` for anything that no store wrote.
    package init?(json: [UInt8]) {
        guard let root = try? JSONDocument(json, limits: .init(maximumBytes: Self.maximumBytes)).root,
            let version = root["version"]?.integer, 1...Int64(UpdatePayload.maximumVersion) ~= version,
            let keySetID = root["keySet"]?.string, let text = root["payloadSHA256"]?.string,
            let digest = (try? Hex.decode(text)).flatMap({ SHA256Digest(bytes: $0) })
        else { return nil }
        self.init(version: Int(version), keySetID: keySetID, payloadDigest: digest)
    }

    /// The largest ``json``, in bytes.
    package static let maximumBytes = 4_096
}
