internal import COpenSSL

/// A challenge of the Digest scheme (RFC 7616) that this session can answer.
struct DigestChallenge: Sendable {
    enum Algorithm: String, CaseIterable {
        // In order of strength, the weakest first.
        case md5 = "MD5"
        case sha256 = "SHA-256"
        case sha512t256 = "SHA-512-256"
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// A Boolean value that indicates whether the challenge uses a `-sess` algorithm, whose key depends on the nonces.
    let isSession: Bool
    /// A Boolean value that indicates whether the server sent `qop`. Servers older than RFC 2617 do not, and do not
    /// count requests.
    let hasQuality: Bool
    /// A Boolean value that indicates whether the server accepted the last answer and only its nonce has expired.
    let isStale: Bool
    private let algorithmName: String?

    /// Returns `nil` for another scheme, an unknown algorithm, or a server that requires `auth-int`.
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

    /// Returns the value of `Authorization`.
    ///
    /// - Parameters:
    ///   - target: The path and query as they are sent.
    ///   - count: The number of requests that use this nonce, including this one.
    ///   - clientNonce: The client's nonce in hexadecimal.
    /// - Returns: The value, or `nil` if OpenSSL does not offer the algorithm, for example under FIPS.
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
        // Repeat the server's own spelling: some servers compare the text.
        if let algorithmName { fields.append("algorithm=\(algorithmName)") }
        if hasQuality { fields += ["qop=auth", "nc=\(counter)"] }
        if hasQuality || isSession { fields.append("cnonce=\"\(clientNonce)\"") }
        if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "".unicodeScalars
        // Iterate over scalars, not characters: a quotation mark with a combining mark is another `Character`, but
        // still ends the string for the server.
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
            quoted.append(scalar)
        }
        return "\"\(String(quoted))\""
    }

    /// Returns a hash in lower-case hexadecimal.
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
