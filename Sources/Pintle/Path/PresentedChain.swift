/// What a server sent: a claim, leaf first, that nobody has checked yet.
public struct PresentedChain: Sendable {
    /// What is looked at, at most. A chain beyond it is refused, unread but for the names.
    package struct Limits: Sendable, Hashable {
        /// Certificates in a chain.
        package var count = 128
        /// Bytes in all; one certificate has at most ``Certificate/maximumSize``.
        package var totalSize = 4 * 1024 * 1024
        /// Names in all, as ``Certificate/maximumNames`` counts them: in memory one takes a hundred times its size.
        package var names = 20_000

        package init() {}
    }

    /// The first certificate: the server's own, by the rules of TLS (RFC 8446 section 4.4.2).
    public let leaf: Certificate
    /// What came behind the leaf and could be read, as sent. Certificates that cannot be read are
    /// dropped: no path can lead through them. One that holds more than is read is not dropped: the chain is refused,
    /// wherever in it the limit is passed. An EC key with explicit parameters makes a certificate unreadable.
    public let others: [Certificate]
    /// How many were dropped.
    public let unreadableCount: Int

    /// Reads DER certificates, the leaf first.
    ///
    /// - Throws: `empty-chain`, `limits-exceeded`, or `malformed-certificate` for the leaf.
    public init(_ certificates: [[UInt8]]) throws(PathFailure) {
        try self.init(certificates, limits: Limits())
    }

    /// The same with other limits, for tests.
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
        var names = 0
        for (depth, der) in certificates.enumerated() {
            let certificate: Certificate
            do {
                certificate = try Certificate(der: der)
            } catch {
                // A limit passed inside a certificate is no other than one passed by its size.
                if error.reason == .tooLarge {
                    throw PathFailure(.limitsExceeded, depth: depth, text: error.description)
                }
                if depth == 0 { throw PathFailure(.malformedCertificate, depth: 0, text: error.description) }
                continue
            }
            if certificate.publicKey.hasUnnamedCurve {
                guard depth > 0 else {
                    throw PathFailure(.malformedCertificate, depth: 0, text: KeyAlgorithm.unnamedCurveText)
                }
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
        unreadableCount = certificates.count - readable.count
    }

    /// The leaf and the others that could be read.
    public var certificates: [Certificate] { [leaf] + others }
}
