/// The certificates of a file: PEM, with any text around the blocks, or a single DER.
///
/// Text is what `openssl x509 -text` prints, or a comment, in UTF-8 or another extension of ASCII. DER or UTF-16 beside
/// the blocks is none, nor is a line that looks like a boundary: quoted, in lower case, or with a dash too few.
///
/// All of them or none: a certificate that was passed over in silence is a root or a pin fewer than its
/// owner thinks there are.
///
///     let bundle = try CertificateBundle(bytes)
///     let anchors = TrustAnchors.only(bundle.certificates)
public struct CertificateBundle: Sendable {
    /// In the order of the file; at least one.
    public let certificates: [Certificate]

    /// The list is cut here: a person reads no longer one.
    private static let maximumProblems = 1_000

    /// - Throws: everything that cannot be read, each with its block and line.
    public init(_ bytes: [UInt8]) throws(CertificateBundleError) {
        var certificates: [Certificate] = []
        var problems: [CertificateBundleError.Problem] = []
        if bytes.first == 0x30, !PEMReader.looksLikePEM(bytes) {
            Self.read(bytes, nil, &certificates, &problems)
        } else {
            Self.readBlocks(bytes, &certificates, &problems)
        }
        if certificates.isEmpty, problems.isEmpty {
            problems.append(.nothing)
        }
        guard problems.isEmpty else { throw CertificateBundleError(problems: problems) }
        self.certificates = certificates
    }

    /// Inline PEM: the text of a file.
    ///
    /// - Throws: as ``init(_:)``.
    public init(pem: String) throws(CertificateBundleError) {
        try self.init(Array(pem.utf8))
    }

    /// Certificates that were read before; `nil` for none.
    package init?(certificates: [Certificate]) {
        guard !certificates.isEmpty else { return nil }
        self.certificates = certificates
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
            problems.append(
                .init(
                    block: block?.number, line: block?.line, message: "not a certificate: \(error)",
                    help: "export the certificate again"))
        }
    }
}

/// Everything in a file of certificates that is none.
public struct CertificateBundleError: Error, Sendable, Hashable {
    /// One thing that is wrong with the input, with its place.
    public struct Problem: Sendable, Hashable {
        /// Which block of the PEM, from 1; `nil` for DER and for the file as a whole.
        public let block: Int?
        /// The line of the block, from 1.
        public let line: Int?
        /// Lower case, no full stop.
        public let message: String
        /// What to do about it.
        public let help: String

        init(block: Int? = nil, line: Int? = nil, message: String, help: String) {
            self.block = block
            self.line = line
            self.message = message
            self.help = help
        }

        /// The file holds neither certificates nor anything that means to be one.
        package static let nothing = Problem(
            message: "no certificate in it", help: "name a PEM file with -----BEGIN CERTIFICATE-----")
    }

    /// At least one, in the order of the file.
    public let problems: [Problem]
}

extension CertificateBundleError.Problem: CustomStringConvertible {
    /// `block 2, line 31: a PRIVATE KEY, not a CERTIFICATE`
    public var description: String {
        let place = [block.map { "block \($0)" }, line.map { "line \($0)" }].compactMap(\.self).joined(separator: ", ")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}

extension CertificateBundleError: CustomStringConvertible {
    /// One line a problem.
    public var description: String { problems.map { "\($0); \($0.help)" }.joined(separator: "\n") }
}

extension CertificateBundle {
    /// A pin of each key in the bundle, in the order of its certificates; a key that several certificates have is
    /// pinned once.
    ///
    /// A renewed certificate for the same key still matches. The bundle holds what is in use now, so that a backup
    /// pin has to come from elsewhere: from a key that is kept offline.
    ///
    ///     try PinnedHost("example.com", pins: bundle.publicKeyPins(), backupPins: [.publicKey("sha256/...")])
    ///
    /// - Parameter position: where on the validated path they may match.
    public func publicKeyPins(at position: PinPosition = .any) -> [Pin] {
        Self.unique(certificates.map { Pin(.publicKey($0.publicKeyPin), at: position) })
    }

    /// A pin of each certificate in the bundle, in its order. They hold until the certificates are renewed.
    ///
    /// - Parameter position: where on the validated path they may match.
    public func certificatePins(at position: PinPosition = .any) -> [Pin] {
        Self.unique(certificates.map { Pin(.certificate($0.fingerprint), at: position) })
    }

    private static func unique(_ pins: [Pin]) -> [Pin] {
        var known: Set<Pin> = []
        return pins.filter { known.insert($0).inserted }
    }
}
