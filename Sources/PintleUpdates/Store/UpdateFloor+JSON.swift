internal import Pintle
internal import PintleCrypto

extension UpdateFloor {
    /// What the store keeps, UTF-8.
    package var json: [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", version)
            $0.member("keySet", keySetID)
            $0.member("payloadSHA256", Hex.encode(payloadDigest.bytes))
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// `nil` for anything that the store did not write.
    package init?(json: [UInt8]) {
        guard let root = try? JSONDocument(json, limits: .init(maximumBytes: Self.maximumBytes)).root,
            let version = root["version"]?.integer, 1...Int64(UpdatePayload.maximumVersion) ~= version,
            let keySetID = root["keySet"]?.string, let text = root["payloadSHA256"]?.string,
            let digest = (try? Hex.decode(text)).flatMap({ SHA256Digest(bytes: $0) })
        else { return nil }
        self.init(version: Int(version), keySetID: keySetID, payloadDigest: digest)
    }

    package static let maximumBytes = 4_096
}
