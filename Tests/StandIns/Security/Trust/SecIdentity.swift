/// A certificate and its private key, both in DER. On Apple's systems they come from the Keychain or a PKCS #12 file.
public final class SecIdentity: Sendable {
    package let certificate: [UInt8]
    package let key: [UInt8]

    package init(certificate: [UInt8], key: [UInt8]) {
        self.certificate = certificate
        self.key = key
    }
}
