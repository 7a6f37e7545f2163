extension PEMBlock {
    /// The strict form of RFC 7468 (figure 3): lines of 64 characters, LF, a line break at the end.
    package static func text(label: String, bytes: some Sequence<UInt8>) -> String {
        let base64 = Array(Base64.encode(bytes).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: base64.count, by: 64) {
            text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
