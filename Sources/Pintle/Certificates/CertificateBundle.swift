/// The certificates of one file: a PEM file, with any text around the blocks, or a single DER certificate.
///
/// Text around the blocks may be the output of `openssl x509 -text` or comments, in UTF-8 or another extension of
/// ASCII. These are errors: DER or UTF-16 next to the blocks, and a line that resembles a PEM boundary but is quoted,
/// in lower case or a dash short.
///
/// A bundle never skips a certificate: if one cannot be read, the initializer throws. Otherwise the owner would lack a
/// root or a pin without noticing.
///
///     let bundle = try CertificateBundle(bytes)
///     let anchors = TrustAnchors.only(bundle.certificates)
public struct CertificateBundle: Sendable {
    /// The certificates in the order of the file; at least one.
    public let certificates: [Certificate]

    /// The maximum number of problems that are reported; reading stops there.
    private static let maximumProblems = 1_000

    /// Reads a PEM file or a DER certificate.
    ///
    /// - Throws: all problems of the file, each with its block and line.
    public init(_ bytes: [UInt8]) throws(CertificateBundleError) {
        let (certificates, problems) = Self.read(bytes)
        guard problems.isEmpty else { throw CertificateBundleError(problems: problems) }
        self.certificates = certificates
    }

    /// Reads a file of anchors that the user chose, and skips what cannot be an anchor: certificates that are whole,
    /// and of which a field beside the key breaks the standard. Bundles of public authorities have some of these.
    ///
    /// - Returns: the certificates, and the problem of each that was skipped.
    /// - Throws: all problems of the file if another one is among them, or if there is no certificate that can be used.
    package static func anchors(
        in bytes: [UInt8]
    ) throws(CertificateBundleError) -> (certificates: [Certificate], skipped: [CertificateBundleError.Problem]) {
        let (certificates, problems) = read(bytes)
        guard !certificates.isEmpty, problems.count < maximumProblems, problems.allSatisfy(\.isOfWholeCertificate)
        else {
            throw CertificateBundleError(problems: problems)
        }
        return (certificates, problems)
    }

    /// Reads PEM text, such as a literal in the source code.
    ///
    /// - Throws: the same as ``init(_:)``.
    public init(pem: String) throws(CertificateBundleError) {
        try self.init(Array(pem.utf8))
    }

    /// Creates a bundle of parsed certificates, or `nil` if there are none.
    package init?(certificates: [Certificate]) {
        guard !certificates.isEmpty else { return nil }
        self.certificates = certificates
    }

    private static func read(
        _ bytes: [UInt8]
    ) -> (certificates: [Certificate], problems: [CertificateBundleError.Problem]) {
        var certificates: [Certificate] = []
        var problems: [CertificateBundleError.Problem] = []
        if bytes.first == 0x30, !PEMReader.looksLikePEM(bytes) {
            read(bytes, nil, &certificates, &problems)
        } else {
            readBlocks(bytes, &certificates, &problems)
        }
        if certificates.isEmpty, problems.isEmpty { problems.append(.nothing) }
        return (certificates, problems)
    }

    private static func readBlocks(
        _ bytes: [UInt8], _ certificates: inout [Certificate], _ problems: inout [CertificateBundleError.Problem]
    ) {
        var reader = PEMReader(bytes, maximumBlockSize: Certificate.maximumSize)
        while problems.count < maximumProblems {
            do throws(PEMError) {
                guard let block = try reader.next() else { return }
                if block.isCertificate {
                    read(block.bytes, block, &certificates, &problems)
                } else {
                    problems.append(
                        .init(
                            block: block.number, line: block.line, message: "a \(block.label), not a CERTIFICATE",
                            help: block.label == "TRUSTED CERTIFICATE"
                                ? "convert it: openssl x509 -in FILE -out PLAIN"
                                : "keep only certificates in the file"))
                }
            } catch {
                problems.append(
                    .init(
                        block: error.block, line: error.line, message: error.message,
                        help: error.hint ?? "export the certificate again"))
            }
        }
    }

    private static func read(
        _ der: [UInt8], _ block: PEMBlock?, _ certificates: inout [Certificate],
        _ problems: inout [CertificateBundleError.Problem]
    ) {
        do throws(DERError) {
            certificates.append(try Certificate(der: der))
        } catch {
            let isSeveral = block == nil && Certificate.isFirstOfSeveral(in: der)
            let isWhole = !isSeveral && (try? CertificateOutline(der: der)) != nil
            problems.append(
                .init(
                    block: block?.number, line: block?.line,
                    message: isSeveral
                        ? "several DER values one behind the other"
                        : isWhole ? "a certificate that breaks the standard: \(error)" : "not a certificate: \(error)",
                    help: isSeveral
                        ? Certificate.severalHelp
                        : isWhole ? "leave it out, or have it issued again" : "export the certificate again",
                    isOfWholeCertificate: isWhole))
        }
    }
}

extension Certificate {
    /// Returns whether the bytes begin with a certificate in DER, with more bytes behind it.
    package static func isFirstOfSeveral(in bytes: [UInt8]) -> Bool {
        var reader = DERReader(0..<bytes.count)
        guard let first = try? reader.next(DERTag.sequence, in: bytes, reading: "certificate"), first.end < bytes.count
        else { return false }
        return (try? Certificate(der: Array(bytes[first.range]))) != nil
    }

    package static let severalHelp =
        "a file holds one certificate in DER, or several in PEM: convert each with openssl x509"
}

/// All problems of certificates in memory or in files. No certificate was taken.
public struct CertificateBundleError: Error, Sendable, Hashable {
    /// One problem and its position in the file.
    public struct Problem: Sendable, Hashable {
        /// The file or folder, as the caller named it; `nil` for certificates in memory.
        public let file: String?
        /// The number of the PEM block, counted from 1; `nil` for DER or for a problem of the whole file.
        public let block: Int?
        /// The line number of the block, counted from 1.
        public let line: Int?
        /// The problem, in lower case and without a full stop.
        public let message: String
        /// The remedy.
        public let help: String
        /// A Boolean value that indicates whether the problem is about a certificate that is whole.
        let isOfWholeCertificate: Bool

        package init(
            file: String? = nil, block: Int? = nil, line: Int? = nil, message: String, help: String,
            isOfWholeCertificate: Bool = false
        ) {
            self.file = file
            self.block = block
            self.line = line
            self.message = message
            self.help = help
            self.isOfWholeCertificate = isOfWholeCertificate
        }

        /// The file holds no certificate and nothing that resembles one.
        package static let nothing = Problem(
            message: "no certificate in it", help: "name a PEM file with -----BEGIN CERTIFICATE-----")
    }

    /// The problems in the order of the files; at least one.
    public let problems: [Problem]

    package init(problems: [Problem]) {
        self.problems = problems
    }
}

extension CertificateBundleError.Problem {
    /// Returns this problem with the name of its file.
    package func placed(in file: String) -> Self {
        Self(
            file: file, block: block, line: line, message: message, help: help,
            isOfWholeCertificate: isOfWholeCertificate)
    }
}

extension CertificateBundleError.Problem: CustomStringConvertible {
    /// The position and the problem: `old.pem: block 2, line 31: a PRIVATE KEY, not a CERTIFICATE`.
    public var description: String {
        let place = [block.map { "block \($0)" }, line.map { "line \($0)" }].compactMap(\.self).joined(separator: ", ")
        return (file.map { "\($0): " } ?? "") + (place.isEmpty ? "" : place + ": ") + message
    }
}

extension CertificateBundleError: CustomStringConvertible {
    /// The problems and their remedies, one a line.
    public var description: String { problems.map { "\($0); \($0.help)" }.joined(separator: "\n") }
}

extension CertificateBundle {
    /// Returns a pin of each public key in the bundle, in the order of the certificates. A key in several certificates
    /// is pinned once.
    ///
    /// The pins still match when a certificate is renewed for the same key. The bundle holds the keys in use, so a
    /// backup pin has to come from elsewhere: from a key that is kept offline.
    ///
    ///     try PinnedHost("example.com", pins: bundle.publicKeyPins(), backupPins: ["sha256/..."])
    ///
    /// - Parameter position: where on the validated path the pins may match.
    public func publicKeyPins(at position: PinPosition = .any) -> [Pin] {
        Self.unique(certificates.map { Pin(.publicKey($0.publicKeyPin), at: position) })
    }

    /// Returns a pin of each certificate in the bundle, in order. The pins stop matching when the certificates are
    /// renewed.
    ///
    /// - Parameter position: where on the validated path the pins may match.
    public func certificatePins(at position: PinPosition = .any) -> [Pin] {
        Self.unique(certificates.map { Pin(.certificate($0.fingerprint), at: position) })
    }

    private static func unique(_ pins: [Pin]) -> [Pin] {
        var known: Set<Pin> = []
        return pins.filter { known.insert($0).inserted }
    }
}
