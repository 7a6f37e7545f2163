internal import Pintle

/// Recognises files with pins that import does not read: source code, commands and configurations of servers.
enum SourceText {
    private static let kinds = [
        ("CertificatePinner", "source code with a CertificatePinner of OkHttp"),
        ("TSKPinnedDomains", "source code with TrustKit's configuration"),
        ("NSPinnedDomains", "source code with NSPinnedDomains"), ("pinnedpubkey", "a command line of curl"),
        ("verify_certificate_spki", "a configuration of Envoy"), ("static_spki_hashes", "Chromium's list of pins"),
    ]

    /// Returns the error for such a file; `nil` for XML, a binary property list and files without a known word.
    static func refusal(of bytes: [UInt8], file: String) -> ToolError? {
        let text = String(decoding: bytes, as: UTF8.self)
        let first = text.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
        guard first != "<", !text.hasPrefix("bplist") else { return nil }
        guard let kind = kinds.first(where: { text.contains($0.0) }) else { return nil }
        return .unusable(
            "source-code", "the file is \(kind.1), which import does not read", file: file,
            hint: "import the property list of the app, or write a policy with the pins themselves: "
                + "\"pins\": [\"sha256/...\"]")
    }
}
