package import Pintle

/// The answers of libraries that not every build of the tool has: OpenSSL, and a list of public suffixes.
///
/// The defaults are those of a build without them. Such a build has a type for keys all the same.
package protocol Libraries: Sendable {
    /// A Boolean value that indicates whether there is a list of public suffixes.
    var knowsSuffixes: Bool { get }

    /// Returns whether registries hand out names directly below this one: `com`, `co.uk`. Without a list every
    /// top-level domain counts.
    ///
    /// - Parameter name: lower-case ASCII, without a trailing dot.
    func isPublicSuffix(_ name: String) -> Bool

    /// Returns whether the name is a public suffix, or one that belongs to an owner: `github.io`. Without a list every
    /// top-level domain counts.
    ///
    /// - Parameter name: lower-case ASCII, without a trailing dot.
    func isListedSuffix(_ name: String) -> Bool

    /// Returns a function that names the public authority with this key or certificate: one that this machine trusts
    /// for every host. The function reads the roots when it is first called.
    func publicAuthorities(_ environment: [String: String]) -> @Sendable (Pin) -> String?

    /// Returns the SubjectPublicKeyInfo, DER, of an unencrypted private key: PKCS#8 (RFC 5208), PKCS#1 (RFC 8017) or
    /// SEC1 (RFC 5915), DER, and whether its private half belongs to it.
    func publicHalf(
        of privateKey: [UInt8]
    ) throws(ToolError) -> (subjectPublicKeyInfo: [UInt8], isMatching: Bool)

    /// Returns the SubjectPublicKeyInfo, DER, of an `RSAPublicKey` (RFC 8017 appendix A.1.1), DER, which files with
    /// "RSA PUBLIC KEY" hold.
    func subjectPublicKeyInfo(ofRSAPublicKey der: [UInt8]) throws(ToolError) -> [UInt8]

    /// Returns whether DER without a label is an `RSAPublicKey`.
    func isRSAPublicKey(_ der: [UInt8]) -> Bool

    /// Returns whether the key in a certificate request has signed it (RFC 2986 section 4.2); `nil` if the library
    /// cannot tell.
    ///
    /// - Parameters:
    ///   - request: the request, DER.
    ///   - key: its key, which is of a kind and size that paths may have.
    func isSigned(_ request: [UInt8], by key: PublicKeyDescription) -> Bool?

    /// A Boolean value that indicates whether ``signingSeed(of:passphrase:in:)`` reads encrypted keys.
    var readsEncryptedKeys: Bool { get }

    /// Returns the seed of a private Ed25519 key (RFC 8032 section 5.1.5). The caller wipes it.
    ///
    /// - Parameters:
    ///   - key: PKCS#8, DER.
    ///   - passphrase: that of an encrypted key (RFC 5958 section 3); `nil` if the key is not encrypted.
    ///   - file: the name of the file, for errors.
    func signingSeed(of key: [UInt8], passphrase: [UInt8]?, in file: String) throws(ToolError) -> [UInt8]
}

extension Libraries {
    package var knowsSuffixes: Bool { false }
    package func isPublicSuffix(_ name: String) -> Bool { !name.contains(".") }
    package func isListedSuffix(_ name: String) -> Bool { !name.contains(".") }
    package func publicAuthorities(_ environment: [String: String]) -> @Sendable (Pin) -> String? { { _ in nil } }
    package var readsEncryptedKeys: Bool { false }
}

extension ToolError {
    /// The code of ``needsOpenSSL(_:)``.
    package static let needsOpenSSL = "needs-openssl"

    /// The error of a command, or a use of it, for which this build has no library.
    ///
    /// - Parameter subject: a noun phrase.
    package static func needsOpenSSL(_ subject: String) -> ToolError {
        .unusable(needsOpenSSL, "\(subject) needs a build of pintle with OpenSSL")
    }
}

extension Invocation {
    /// Answers as the libraries do, and warns if they have no list.
    package func isPublicSuffix(_ name: String) -> Bool {
        warnOfMissingSuffixes()
        return libraries.isPublicSuffix(name)
    }

    /// Warns that the answer about a name is no judgement, if there is no list of public suffixes.
    package func warnOfMissingSuffixes() {
        guard !libraries.knowsSuffixes else { return }
        console.warn(
            "there is no list of public suffixes here, so a rule for all names below one, such as co.uk, is not "
                + "noticed; pintle on Linux has a list")
    }
}
