package import Pintle
package import PintleConsole
internal import PintleUpdates

/// A reader of everything in a file that has a pin: PEM blocks in their order, or one DER value.
///
/// A block that cannot be read is an error and is never skipped, because the file's owner would get fewer pins than
/// expected.
struct SourceReader {
    private let name: String
    private let path: String
    private let libraries: any Libraries
    private var errors: [ToolError] = []
    private var slowKeys = 0

    /// Reads the items, and wipes the file's bytes unless all of them turned out to be public: an unreadable block may
    /// be a key too.
    ///
    /// - Throws: every unreadable block, each with its line.
    static func items(
        in file: inout InputFile, _ libraries: any Libraries
    ) throws(ToolError) -> [SourceItem] {
        var isPublic = false
        defer { if !isPublic { SecretBytes.wipe(&file.bytes) } }
        let items = try read(file, libraries)
        isPublic = !items.contains(where: \.isPrivateKey)
        return items
    }

    private static func read(_ file: InputFile, _ libraries: any Libraries) throws(ToolError) -> [SourceItem] {
        var reader = SourceReader(name: file.name, path: file.path, libraries: libraries)
        guard !file.bytes.isEmpty else {
            throw .unusable("empty-file", "the file is empty", file: file.name, hint: Self.whatIsRead)
        }
        guard PEMReader.looksLikePEM(file.bytes) else { return [try reader.derItem(file.bytes)] }
        return try reader.pemItems(file.bytes)
    }

    private static let whatIsRead = "give certificates, requests or keys, in PEM or DER"

    // MARK: PEM

    private mutating func pemItems(_ bytes: [UInt8]) throws(ToolError) -> [SourceItem] {
        var reader = PEMReader(bytes)
        var items: [SourceItem] = []
        // Blocks of another kind are errors only if there is nothing else, because the files of servers have parameters
        // beside their key.
        var skipped: [String] = []
        var isAtEnd = false
        while !isAtEnd {
            guard errors.count < Self.maximumErrors else {
                errors.append(.unusable("more-errors", "there are more; the rest was not examined", file: name))
                break
            }
            do throws(PEMError) {
                guard var block = try reader.next() else {
                    isAtEnd = true
                    continue
                }
                if Self.parameterLabels.contains(block.label) {
                    skipped.append(block.label)
                } else {
                    read(block, into: &items)
                    if block.label.hasSuffix("PRIVATE KEY") { SecretBytes.wipe(&block.bytes) }
                }
            } catch {
                errors.append(
                    .unusable(
                        error.reason == .encryptedLegacyKey ? "encrypted-key" : "malformed-pem",
                        "PEM block \(error.block): \(error.message)", file: name, line: error.line,
                        hint: error.hint))
            }
        }
        if items.isEmpty, errors.isEmpty {
            errors.append(
                .unusable(
                    "nothing-to-pin", "the file has nothing to pin, only \(skipped.joined(separator: ", "))",
                    file: name,
                    hint: Self.whatIsRead))
        }
        if let error = ToolError.joining(errors) { throw error }
        return items
    }

    /// A file of 16 MiB can hold half a million blocks, and each could be an error.
    private static let maximumErrors = 20

    private static let parameterLabels: Set<String> = ["EC PARAMETERS", "DH PARAMETERS", "DSA PARAMETERS"]

    /// The number of private DSA and DH keys in a file. OpenSSL computes their public half, which takes a tenth of a
    /// second.
    private static let maximumSlowKeys = 16

    private mutating func read(_ block: PEMBlock, into items: inout [SourceItem]) {
        do throws(ToolError) {
            let isPrivateKey = block.label.hasSuffix("PRIVATE KEY")
            guard !isPrivateKey || slowKeys < Self.maximumSlowKeys else {
                throw ToolError.unusable(
                    "too-large", "a private key after \(Self.maximumSlowKeys) of DSA or DH is not read")
            }
            let item = try item(block)
            if isPrivateKey, item.isSlow { slowKeys += 1 }
            items.append(item)
        } catch {
            errors.append(
                .unusable(
                    error.code, "PEM block \(block.number): \(error.message)", file: name, line: block.line,
                    hint: error.hint))
        }
    }

    private func item(_ block: PEMBlock) throws(ToolError) -> SourceItem {
        switch block.label {
        case _ where block.isCertificate:
            return try Self.parsing("certificate") { () throws(DERError) in try .certificate(in: block.bytes) }
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST":
            return .request(
                try Self.parsing("request") { () throws(DERError) in try request(block.bytes) })
        case "PUBLIC KEY": return .key(try Self.publicKey(block.bytes), isPrivate: false)
        case "RSA PUBLIC KEY":
            return .key(
                try Self.publicKey(libraries.subjectPublicKeyInfo(ofRSAPublicKey: block.bytes)), isPrivate: false)
        case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "DSA PRIVATE KEY":
            return try privateKey(block.bytes)
        case "ENCRYPTED PRIVATE KEY": throw .encryptedKey
        case "OPENSSH PRIVATE KEY":
            throw .unusable(
                "unsupported-block", "an OpenSSH key is not one that a TLS server uses",
                hint: "convert a copy of it: ssh-keygen -p -m PKCS8 -f COPY")
        case "TRUSTED CERTIFICATE":
            throw .unusable(
                "unsupported-block", "a TRUSTED CERTIFICATE carries OpenSSL's own settings behind it",
                hint: "write it plainly: openssl x509 -in FILE -out cert.pem")
        case "PKCS7", "CMS":
            throw .unusable(
                "unsupported-block", "certificates wrapped in PKCS#7 are not supported",
                hint: "unwrap them: openssl pkcs7 -in FILE -print_certs | pintle pin -")
        default:
            throw .unusable(
                "unsupported-block", "nothing in a block called \(block.label) can be pinned",
                hint: Self.whatIsRead)
        }
    }

    // MARK: Structures

    private static func parsing<Value>(
        _ what: String, _ parse: () throws(DERError) -> Value
    ) throws(ToolError) -> Value {
        do {
            return try parse()
        } catch {
            throw .unusable(
                "malformed-\(what.split(separator: " ").last ?? "")", "the \(what) cannot be read: \(error)",
                hint: isComplete(error) ? completeHint : "it was damaged or cut off; export it again")
        }
    }

    private static func publicKey(_ der: [UInt8]) throws(ToolError) -> SourceItem.PublicKey {
        try parsing("public key") { () throws(DERError) in try SourceItem.PublicKey(subjectPublicKeyInfo: der) }
    }

    private func request(_ der: [UInt8]) throws(DERError) -> CertificateRequest {
        var request = try CertificateRequest(der: der)
        if request.publicKey.isAcceptedInPaths,
            PublicKeyFlaw.text(ofSubjectPublicKeyInfo: request.subjectPublicKeyInfo) == nil
        {
            let isSigned = libraries.isSigned(der, by: request.publicKey)
            request.isSignedByOtherKey = isSigned == false
            request.hasUncheckedSignature = isSigned == nil
        }
        return request
    }

    private func privateKey(_ der: [UInt8]) throws(ToolError) -> SourceItem {
        let (info, isMatching) = try libraries.publicHalf(of: der)
        var key = try Self.publicKey(info)
        key.hasForeignPrivateHalf = !isMatching
        return .key(key, isPrivate: true)
    }

    /// Returns whether only the content of a field is wrong, so that exporting the file again would not help.
    private static func isComplete(_ error: DERError) -> Bool {
        [.invalidValue, .duplicate, .tooLarge].contains(error.reason)
    }

    private static let completeHint = "it is complete, but breaks the standard: have it issued again"

    // MARK: DER

    private func derItem(_ bytes: [UInt8]) throws(ToolError) -> SourceItem {
        let certificateError: DERError
        do {
            return try .certificate(in: bytes)
        } catch {
            certificateError = error
        }
        if let request = try? request(bytes) { return .request(request) }
        if let key = try? SourceItem.PublicKey(subjectPublicKeyInfo: bytes) { return .key(key, isPrivate: false) }
        // Only a private key is recognised. Other bytes that begin like DER were meant to be a certificate.
        guard bytes.first == 0x30 else {
            if let kind = FileKind(of: bytes) {
                throw .unusable(
                    "other-kind", "neither certificates nor keys: the file is \(kind.name)", file: name,
                    hint: kind.remedy(for: path))
            }
            throw .unusable(
                "unknown-format", "neither PEM nor DER", file: name,
                hint: Self.whatIsRead + "; PKCS#12: openssl pkcs12 -in FILE -nokeys | pintle pin -")
        }
        if let refusal = ForeignDER.refusal(of: bytes) { throw refusal.placed(in: name) }
        if bytes.count <= 64 * 1024 {
            if libraries.isRSAPublicKey(bytes),
                let key = try? Self.publicKey(libraries.subjectPublicKeyInfo(ofRSAPublicKey: bytes))
            {
                return .key(key, isPrivate: false)
            }
            do throws(ToolError) {
                return try privateKey(bytes)
            } catch  where error.code == ToolError.needsOpenSSL {
                throw error.placed(in: name)
            } catch {}
        }
        guard !Certificate.isFirstOfSeveral(in: bytes) else {
            throw .unusable(
                "several-certificates", "several DER values one behind the other", file: name,
                hint: Certificate.severalHelp)
        }
        throw .unusable(
            "malformed-certificate", "not a certificate, request or key; as a certificate: \(certificateError)",
            file: name,
            hint: Self.isComplete(certificateError)
                ? Self.completeHint : "it was damaged or cut off, or is of another kind: " + Self.whatIsRead)
    }
}

extension Invocation {
    /// Reads the items of a file as ``SourceReader`` does, and warns of what this build of the tool could not check.
    package func items(in file: inout InputFile) throws(ToolError) -> [SourceItem] {
        let items = try SourceReader.items(in: &file, libraries)
        for (index, item) in items.enumerated() {
            guard case .request(let request) = item, request.hasUncheckedSignature else { continue }
            console.warn(
                "\(file.name): item \(index + 1): this build of pintle cannot check the request's signature; "
                    + "to check it: openssl req -verify -noout -in FILE")
        }
        return items
    }
}

/// An item in a file that has a pin.
package enum SourceItem {
    case certificate(Certificate)
    /// A certificate of which a field beside the key breaks the standard.
    case unfit(UnfitCertificate)
    case request(CertificateRequest)
    /// A bare public key, or the public half of a private one.
    case key(PublicKey, isPrivate: Bool)

    /// A public key as its SubjectPublicKeyInfo.
    package struct PublicKey {
        let description: PublicKeyDescription
        package let pin: PublicKeyPin
        /// The id that updates use for the key, if it can sign them.
        let updateKeyID: String?
        /// The reason why it is not a key (``PublicKeyFlaw``); `nil` if it is one.
        let flaw: String?
        /// A Boolean value that indicates whether the private half in the same file belongs to another key.
        var hasForeignPrivateHalf = false

        init(subjectPublicKeyInfo der: [UInt8]) throws(DERError) {
            flaw = PublicKeyFlaw.text(ofSubjectPublicKeyInfo: der)
            description = try PublicKeyDescription(subjectPublicKeyInfo: der)
            pin = try PublicKeyPin(subjectPublicKeyInfo: der)
            updateKeyID = (try? UpdateKey(subjectPublicKeyInfo: der))?.id
        }
    }

    /// A certificate that no client of Pintle accepts on a path. Its pin is that of its key all the same.
    package struct UnfitCertificate {
        let outline: CertificateOutline
        let error: DERError
    }

    /// Reads a certificate as far as its pin needs it.
    fileprivate static func certificate(in der: [UInt8]) throws(DERError) -> SourceItem {
        do {
            return .certificate(try Certificate(der: der))
        } catch {
            guard let outline = try? CertificateOutline(der: der) else { throw error }
            return .unfit(UnfitCertificate(outline: outline, error: error))
        }
    }

    /// The reason why a certificate breaks the standard; `nil` for everything else.
    var defect: String? {
        if case .unfit(let certificate) = self {
            "the certificate breaks the standard: \(certificate.error)"
        } else {
            nil
        }
    }

    /// A Boolean value that indicates whether it is a certificate, also one that breaks the standard.
    var isCertificate: Bool { certificatePEM != nil }

    /// The certificate as a PEM block; `nil` for everything else.
    var certificatePEM: String? {
        switch self {
        case .certificate(let certificate): certificate.pem
        case .unfit(let certificate): PEMBlock.text(label: "CERTIFICATE", bytes: certificate.outline.der)
        case .request, .key: nil
        }
    }

    /// A Boolean value that indicates whether the key is none of those whose public half OpenSSL gets fast.
    fileprivate var isSlow: Bool {
        switch publicKey.algorithm {
        case .dsa, .other: true
        default: false
        }
    }

    var certificate: Certificate? {
        if case .certificate(let certificate) = self { certificate } else { nil }
    }

    var publicKeyPin: PublicKeyPin {
        switch self {
        case .certificate(let certificate): certificate.publicKeyPin
        case .unfit(let certificate): certificate.outline.publicKeyPin
        case .request(let request): request.publicKeyPin
        case .key(let key, _): key.pin
        }
    }

    var publicKey: PublicKeyDescription {
        switch self {
        case .certificate(let certificate): certificate.publicKey
        case .unfit(let certificate): certificate.outline.publicKey
        case .request(let request): request.publicKey
        case .key(let key, _): key.description
        }
    }

    /// Throws if no path with the key is accepted, or if its owner cannot use it. A rule with its pin would refuse
    /// every app on the day when a server uses the key.
    ///
    /// - Parameter source: the file or server, for the error.
    package func requireStrongKey(from source: String) throws(ToolError) {
        guard let problem else { return }
        throw .unusable(
            problem.code, "\(problem.text), so the pin would never match", file: source,
            hint: "make another key: openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out backup.key")
    }

    /// The reason why a pin of the key would never match; `nil` if there is none.
    var problem: (code: String, text: String)? {
        let weakKey = PathFailure.Code.weakKey.rawValue
        if !publicKey.isAcceptedInPaths { return (weakKey, publicKey.refusal) }
        if let flaw { return (weakKey, "a path with \(flaw) is refused (\(weakKey))") }
        switch self {
        case .request(let request) where request.isSignedByOtherKey:
            return ("invalid-signature", "the key in the request has not signed it, so it may be of another owner")
        case .key(let key, _) where key.hasForeignPrivateHalf:
            return ("key-mismatch", "the private half in the file does not belong to the public half")
        default: return nil
        }
    }

    /// The reason why the value is not a key (``PublicKeyFlaw``); `nil` if it is one.
    private var flaw: String? {
        switch self {
        case .certificate(let certificate): certificate.keyFlaw
        case .unfit(let certificate):
            PublicKeyFlaw.text(ofSubjectPublicKeyInfo: certificate.outline.subjectPublicKeyInfo)
        case .request(let request): PublicKeyFlaw.text(ofSubjectPublicKeyInfo: request.subjectPublicKeyInfo)
        case .key(let key, _): key.flaw
        }
    }

    var isPrivateKey: Bool {
        if case .key(_, isPrivate: true) = self { true } else { false }
    }
}

extension PublicKeyDescription {
    /// The reason why a path with the key is refused, with the id of the path failure.
    var refusal: String { "a path with a key of the kind \(self) is refused (weak-key)" }
}
