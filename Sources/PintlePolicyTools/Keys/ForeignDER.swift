package import PintleConsole

/// DER files that are not supported because their keys or certificates are wrapped.
enum ForeignDER {
    /// Returns the error for such a file, which its first bytes tell; `nil` for any other.
    static func refusal(of bytes: [UInt8]) -> ToolError? {
        guard let content = content(ofSequence: bytes[...]) else { return nil }
        if content.starts(with: pfxVersion) {
            return .unusable(
                "unsupported-format", "PKCS#12 files are not supported",
                hint: "take its certificates: openssl pkcs12 -in FILE -nokeys | pintle pin -")
        }
        if content.starts(with: signedData) {
            return .unusable(
                "unsupported-format", "certificates wrapped in PKCS#7 are not supported",
                hint: "unwrap them: openssl pkcs7 -inform DER -in FILE -print_certs | pintle pin -")
        }
        guard let algorithm = Self.content(ofSequence: content), algorithm.first == 0x06,
            passwordBased.contains(where: algorithm.dropFirst(2).starts)
        else { return nil }
        return .encryptedKey
    }

    /// INTEGER 3 (RFC 7292 section 4).
    private static let pfxVersion: [UInt8] = [0x02, 0x01, 0x03]
    /// 1.2.840.113549.1.7.2 (RFC 2315 section 14).
    private static let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// The arcs of PKCS#5 and of PKCS#12's own algorithms: 1.2.840.113549.1.5 and 1.2.840.113549.1.12.1.
    private static let passwordBased: [[UInt8]] = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05], [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01],
    ]

    /// Returns the bytes behind the header of a SEQUENCE, without checking the length in the header.
    private static func content(ofSequence bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.first == 0x30, let length = bytes.dropFirst().first else { return nil }
        return bytes.dropFirst(length < 0x80 ? 2 : 2 + Int(length & 0x7F))
    }
}

extension ToolError {
    static let encryptedKey = ToolError.unusable(
        "encrypted-key", "the private key is encrypted",
        hint: "take its public half: openssl pkey -in FILE -pubout | pintle pin -")
    package static let unreadablePrivateKey = ToolError.unusable(
        "malformed-key", "the private key cannot be read",
        hint: "give its public half: openssl pkey -in FILE -pubout | pintle pin -")
    package static let unreadableRSAKey = ToolError.unusable(
        "malformed-key", "the RSA public key cannot be read",
        hint: "export it again: openssl rsa -RSAPublicKey_in -in FILE -pubout")
}
