internal import COpenSSL

/// A challenge of the Digest scheme (RFC 7616) that this session can answer.
struct DigestChallenge: Sendable {
    enum Algorithm: String, CaseIterable {
        // The weakest first.
        case md5 = "MD5"
        case sha256 = "SHA-256"
        case sha512t256 = "SHA-512-256"
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// The `-sess` variant, whose key depends on the nonces.
    let isSession: Bool
    /// False for servers from before RFC 2617, which do not count.
    let hasQuality: Bool
    /// The last answer was good, only too old.
    let isStale: Bool
    private let algorithmName: String?

    /// `nil` for another scheme, an unknown algorithm, and a server that insists on `auth-int`.
    init?(_ challenge: AuthenticationChallenges.Challenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"] else {
            return nil
        }
        algorithmName = parameters["algorithm"]
        let name = algorithmName?.uppercased() ?? Algorithm.md5.rawValue
        isSession = name.hasSuffix("-SESS")
        guard let algorithm = Algorithm(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        let qualities = parameters["qop"].map { list in
            list.split { ", \t".contains($0) }.map { $0.lowercased() }
        }
        guard qualities?.contains("auth") ?? true else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.algorithm = algorithm
        opaque = parameters["opaque"]
        hasQuality = qualities != nil
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// The value of `Authorization`.
    ///
    /// - Parameters:
    ///   - target: path and query, as they are sent.
    ///   - count: how many requests this nonce has answered for, this one included.
    ///   - clientNonce: in hexadecimal.
    /// - Returns: `nil` where OpenSSL does not offer the algorithm, as under FIPS.
    func answer(
        user: String, password: String, method: String, target: String, count: UInt32, clientNonce: String
    ) -> String? {
        func hash(_ parts: String...) -> String? { Self.hash(parts.joined(separator: ":"), algorithm) }
        guard var key = hash(user, realm, password), let request = hash(method, target) else { return nil }
        if isSession {
            guard let session = hash(key, nonce, clientNonce) else { return nil }
            key = session
        }
        let text = String(count, radix: 16)
        let counter = String(repeating: "0", count: max(0, 8 - text.count)) + text
        let response =
            hasQuality ? hash(key, nonce, counter, clientNonce, "auth", request) : hash(key, nonce, request)
        guard let response else { return nil }
        var fields = [
            "username=\(Self.quoted(user))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))", "response=\"\(response)\"",
        ]
        // Said as the server said it: some compare the text.
        if let algorithmName { fields.append("algorithm=\(algorithmName)") }
        if hasQuality { fields += ["qop=auth", "nc=\(counter)"] }
        if hasQuality || isSession { fields.append("cnonce=\"\(clientNonce)\"") }
        if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "".unicodeScalars
        // With a mark after it, a quotation mark is another character, and still ends the string.
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
            quoted.append(scalar)
        }
        return "\"\(String(quoted))\""
    }

    /// In lower-case hexadecimal.
    private static func hash(_ text: String, _ algorithm: Algorithm) -> String? {
        let kind =
            switch algorithm {
            case .md5: EVP_md5()
            case .sha256: EVP_sha256()
            case .sha512t256: EVP_sha512_256()
            }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let bytes = Array(text.utf8)
        guard let kind, EVP_Digest(bytes, bytes.count, &digest, &count, kind, nil) == 1 else { return nil }
        return digest.prefix(Int(count)).map { byte in
            let text = String(byte, radix: 16)
            return byte < 0x10 ? "0\(text)" : text
        }.joined()
    }
}
