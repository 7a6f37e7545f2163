internal import Pintle
internal import PintleUpdates

/// An item in a file that has a pin.
enum SourceItem {
    case certificate(Certificate)
    case request(CertificateRequest)
    /// A bare public key, or the public half of a private one.
    case key(PublicKey, isPrivate: Bool)

    /// A public key as its SubjectPublicKeyInfo.
    struct PublicKey {
        let description: PublicKeyDescription
        let pin: PublicKeyPin
        /// The id that updates use for the key, if it can sign them.
        let updateKeyID: String?

        init(subjectPublicKeyInfo der: [UInt8]) throws(DERError) {
            description = try PublicKeyDescription(subjectPublicKeyInfo: der)
            pin = try PublicKeyPin(subjectPublicKeyInfo: der)
            updateKeyID = (try? UpdateKey(subjectPublicKeyInfo: der))?.id
        }
    }

    var certificate: Certificate? {
        if case .certificate(let certificate) = self { certificate } else { nil }
    }

    var isPrivateKey: Bool {
        if case .key(_, isPrivate: true) = self { true } else { false }
    }
}
