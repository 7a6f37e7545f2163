/// What a server sent: a claim, leaf first, that nobody has checked yet.
public struct PresentedChain: Sendable {
    /// What is looked at, at most. A chain beyond it is refused unread.
    public struct Limits: Sendable, Hashable {
        /// Certificates in a chain.
        public var count = 128
        /// Bytes in all; one certificate has at most ``Certificate/maximumSize``.
        public var totalSize = 4 * 1024 * 1024

        public init() {}
    }

    /// The first certificate: the server's own, by the rules of TLS (RFC 8446 section 4.4.2).
    public let leaf: Certificate
    /// What came behind the leaf and could be read, as sent. Certificates that cannot be read are
    /// dropped: no path can lead through them. One that holds more than is read is not dropped: the chain is refused,
    /// wherever in it the limit is passed.
    public let others: [Certificate]
    /// How many were dropped.
    public let unreadableCount: Int

    /// Reads DER certificates, the leaf first.
    ///
    /// - Throws: `empty-chain`, `limits-exceeded`, or `malformed-certificate` for the leaf.
    public init(_ certificates: [[UInt8]], limits: Limits = Limits()) throws(PathFailure) {
        guard let first = certificates.first else {
            throw PathFailure(.emptyChain, text: "the server sent no certificate")
        }
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
        do {
            leaf = try Certificate(der: first)
        } catch {
            throw Self.tooLarge(error, depth: 0)
                ?? PathFailure(.malformedCertificate, depth: 0, text: error.description)
        }
        var others: [Certificate] = []
        for (index, der) in certificates.dropFirst().enumerated() {
            do {
                others.append(try Certificate(der: der))
            } catch {
                if let failure = Self.tooLarge(error, depth: index + 1) { throw failure }
            }
        }
        self.others = others
        unreadableCount = certificates.count - 1 - others.count
    }

    /// A limit passed inside a certificate is no other than one passed by its size.
    private static func tooLarge(_ error: DERError, depth: Int) -> PathFailure? {
        guard error.reason == .tooLarge else { return nil }
        return PathFailure(.limitsExceeded, depth: depth, text: error.description)
    }

    /// The leaf and the others that could be read.
    public var certificates: [Certificate] { [leaf] + others }
}
