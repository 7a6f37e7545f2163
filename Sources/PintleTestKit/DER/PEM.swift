/// Textual encodings of DER (RFC 7468).
package enum PEM {
    /// Returns one block: `-----BEGIN label-----`, base64 in lines of 64, `-----END label-----`.
    package static func encode(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        var text = "-----BEGIN \(label)-----\n"
        let body = base64(der)
        var rest = body[...]
        while !rest.isEmpty {
            text += String(decoding: rest.prefix(64), as: UTF8.self)
            text += "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }

    /// Returns several certificates in a row, as in a bundle or chain file.
    package static func bundle(_ certificates: [[UInt8]]) -> String {
        certificates.map { encode($0) }.joined()
    }

    package static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for byte in group { word = word << 8 | UInt32(byte) }
            word <<= UInt32(8 * (3 - group.count))
            for position in 0..<4 {
                if position > group.count {
                    text.append(UInt8(ascii: "="))
                } else {
                    text.append(alphabet[Int(word >> UInt32(18 - 6 * position)) & 0x3F])
                }
            }
        }
        return text
    }
}
