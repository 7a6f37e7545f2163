/// The certificates that a server sent, leaf first. They are a claim: no signature has been checked.
public struct PresentedChain: Sendable {
    /// The limits on a chain. A chain that exceeds the count or size is refused without parsing it.
    package struct Limits: Sendable, Hashable {
        /// The maximum number of certificates.
        package var count = 128
        /// The maximum size of all certificates together in bytes. Each may have at most ``Certificate/maximumSize``.
        package var totalSize = 4 * 1024 * 1024
        /// The maximum number of names in all certificates together, counted as for ``Certificate/maximumNames``. A
        /// parsed name takes many times the memory of its DER.
        package var names = 20_000

        package init() {}
    }

    /// The first certificate. By the rules of TLS it is the server's own (RFC 8446 section 4.4.2).
    public let leaf: Certificate
    /// The readable certificates after the leaf, in the order sent. Unreadable certificates are dropped, because no
    /// path can include them; a certificate whose EC key has explicit parameters counts as unreadable. A certificate
    /// that exceeds a limit is not dropped: the whole chain is refused.
    public let others: [Certificate]
    /// The number of certificates that were dropped.
    package let unreadableCount: Int
    /// A description of each certificate that was dropped, for people: its position, its subject and the mistake.
    package let unreadable: [String]

    /// Parses DER certificates, the leaf first.
    ///
    /// - Throws: `empty-chain`, `limits-exceeded`, or `malformed-certificate` for the leaf.
    public init(_ certificates: [[UInt8]]) throws(PathFailure) {
        try self.init(certificates, limits: Limits())
    }

    /// Parses certificates with other limits, for tests.
    package init(_ certificates: [[UInt8]], limits: Limits) throws(PathFailure) {
        guard certificates.count <= limits.count else {
            throw PathFailure(
                .limitsExceeded, text: "\(certificates.count) certificates, more than \(limits.count)")
        }
        for (depth, der) in certificates.enumerated() where der.count > Certificate.maximumSize {
            throw PathFailure(
                .limitsExceeded, depth: depth,
                text: "a certificate of \(der.count) bytes, more than \(Certificate.maximumSize)")
        }
        let total = certificates.reduce(0) { $0 + $1.count }
        guard total <= limits.totalSize else {
            throw PathFailure(.limitsExceeded, text: "\(total) bytes of certificates, more than \(limits.totalSize)")
        }
        var readable: [Certificate] = []
        var unreadable: [String] = []
        var unreadableCount = 0
        func drop(_ der: [UInt8], _ depth: Int, _ mistake: String) {
            unreadableCount += 1
            if unreadable.count < Self.mostTexts { unreadable.append(Self.text(der, at: depth, mistake)) }
        }
        var names = 0
        for (depth, der) in certificates.enumerated() {
            let certificate: Certificate
            do {
                certificate = try Certificate(der: der)
            } catch {
                // A limit inside a certificate, such as its number of names, refuses the chain like a limit on its
                // size.
                if error.reason == .tooLarge {
                    throw PathFailure(.limitsExceeded, depth: depth, text: error.description)
                }
                if depth == 0 { throw PathFailure(.malformedCertificate, depth: 0, text: error.description) }
                drop(der, depth, error.description)
                continue
            }
            if certificate.publicKey.hasUnnamedCurve {
                guard depth > 0 else {
                    throw PathFailure(.malformedCertificate, depth: 0, text: KeyAlgorithm.unnamedCurveText)
                }
                drop(der, depth, KeyAlgorithm.unnamedCurveText)
                continue
            }
            names += certificate.nameCount
            guard names <= limits.names else {
                throw PathFailure(
                    .limitsExceeded, depth: depth, text: "more than \(limits.names) names in the certificates")
            }
            readable.append(certificate)
        }
        guard let leaf = readable.first else {
            throw PathFailure(.emptyChain, text: "the server sent no certificate")
        }
        self.leaf = leaf
        others = Array(readable.dropFirst())
        self.unreadable = unreadable
        self.unreadableCount = unreadableCount
    }

    /// The number of certificates that texts describe, because a server can send many.
    package static let mostTexts = 8
    /// The length in bytes up to which a text repeats a subject.
    private static let longestSubject = 512

    /// Returns a text about a certificate that cannot be used.
    ///
    /// - Parameter depth: the position in the chain that the server sent, 0 for the leaf; `nil` if it is not known.
    package static func text(_ der: [UInt8], at depth: Int? = nil, _ mistake: String) -> String {
        var subject = ""
        if let name = try? CertificateLayout(der).subject, name.range.count <= Self.longestSubject,
            (try? DistinguishedName.check(name, in: der)) != nil
        {
            subject = " (\(DistinguishedName(name, in: der)))"
        }
        let place = depth.map { " \($0)" } ?? ""
        return "the server sent a certificate\(place)\(subject) that cannot be used: \(mistake)"
    }

    /// The leaf, followed by the other readable certificates.
    public var certificates: [Certificate] { [leaf] + others }
}
