internal import COpenSSL
internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One call of `X509_verify_cert`, with the settings that this package stands on.
///
/// `X509_V_FLAG_X509_STRICT` for the profile, `PARTIAL_CHAIN` so that a private intermediate can be an
/// anchor, security level 2 (112 bits, no SHA-1), purpose `sslserver`; names from the subject
/// alternative names alone, wildcards only as a whole label. The call goes on behind each error, so that
/// everything that is wrong is known.
struct Verification {
    let host: ServerName
    let instant: Date
    let maximumIntermediates: Int
    /// The answer to the question whether OpenSSL may compare names with name constraints.
    enum Comparison {
        case allowed
        case tooMuchWork
        /// The core cannot read a certificate on the path. Reading the finished path says which.
        case unreadable
    }

    /// Returns whether the names on this path, leaf first, may be compared with the name constraints on it.
    let mayCompareNames: ([X509Reference]) -> Comparison
    /// The leaf itself is the anchor that somebody named: authority bit, usages and the profile of
    /// public certificates do not apply to it. Name, dates and strength do.
    var leafIsAnchor = false

    struct Result {
        /// Leaf first. Complete only where there are no findings.
        var path: [X509Reference] = []
        var findings: [PathFailure.Finding] = []
        /// A Boolean value that indicates whether the path ends in an anchor, as far as OpenSSL got.
        var hasAnchor = true
    }

    func run(leaf: X509Reference, untrusted: X509Stack, store: AnchorStore) -> Result {
        run(leaf: leaf.pointer, untrusted: untrusted.pointer, store: store)
    }

    func run(leaf: OpaquePointer, untrusted: OpaquePointer?, store: AnchorStore) -> Result {
        guard let context = X509_STORE_CTX_new() else { return Result(findings: [Self.outOfMemory]) }
        defer {
            X509_STORE_CTX_free(context)
            ERR_clear_error()
        }
        guard X509_STORE_CTX_init(context, store.pointer, leaf, untrusted) == 1, configure(context) else {
            return Result(findings: [Self.outOfMemory])
        }
        var collector = Collector(
            second: Int(instant.timeIntervalSince1970.rounded(.down)), leafIsAnchor: leafIsAnchor,
            mayCompareNames: mayCompareNames, verifySignatures: X509_STORE_CTX_get_verify(context))
        return withUnsafeMutablePointer(to: &collector) { collector in
            X509_STORE_CTX_set_ex_data(context, 0, UnsafeMutableRawPointer(collector))
            X509_STORE_CTX_set_verify_cb(context) { isGood, context in
                guard isGood != 1, let context else { return 1 }
                let collector = Collector.attached(to: context)
                collector?.pointee.addError(of: context)
                // A key that is too weak is found first. Left there, it would be told again in the place of what the
                // search for an anchor has found.
                if collector != nil { X509_STORE_CTX_set_error(context, X509_V_OK) }
                return collector == nil ? 0 : 1
            }
            // OpenSSL compares names with constraints right after this step. By then it has built the path and reported
            // what is wrong with it otherwise.
            X509_STORE_CTX_set_verify(context) { context in
                guard let context, let collector = Collector.attached(to: context) else { return 0 }
                return Collector.verify(context, collector)
            }
            let status = X509_verify_cert(context)
            var result = Result(
                path: collector.pointee.path ?? X509Stack.references(in: X509_STORE_CTX_get0_chain(context)),
                findings: collector.pointee.findings, hasAnchor: collector.pointee.hasAnchor)
            if status != 1, result.findings.isEmpty {
                let error = X509_STORE_CTX_get_error(context)
                result.findings = [
                    VerificationError.finding(error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error, depth: 0)
                ]
            }
            return result
        }
    }

    private func configure(_ context: OpaquePointer) -> Bool {
        X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER)
        guard let parameters = X509_STORE_CTX_get0_param(context) else { return false }
        X509_VERIFY_PARAM_set_flags(
            parameters, UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_depth(parameters, Int32(clamping: maximumIntermediates))
        X509_VERIFY_PARAM_set_time(parameters, Int(instant.timeIntervalSince1970.rounded(.down)))
        // For addresses too: without it a certificate whose only name is an address would be asked for
        // its common name.
        X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        if let address = host.ipAddress {
            return X509_VERIFY_PARAM_set1_ip(parameters, address.octets, address.octets.count) == 1
        }
        let name = host.description
        return X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
    }

    /// Whether OpenSSL can be told the instant: it takes whole seconds, and a `Date` may be anything.
    static func canJudge(_ instant: Date) -> Bool { abs(instant.timeIntervalSince1970) < 1e15 }

    private static let outOfMemory = VerificationError.finding(X509_V_ERR_OUT_OF_MEM, depth: 0)
}

/// Takes what the callback is told.
private struct Collector {
    let second: Int
    let leafIsAnchor: Bool
    let mayCompareNames: ([X509Reference]) -> Verification.Comparison
    /// OpenSSL's own step that verifies signatures and dates.
    let verifySignatures: X509_STORE_CTX_verify_fn?
    var findings: [PathFailure.Finding] = []
    var hasAnchor = true
    /// The path whose signatures were verified, which OpenSSL changes no more.
    var path: [X509Reference]?

    static func attached(to context: OpaquePointer) -> UnsafeMutablePointer<Collector>? {
        X509_STORE_CTX_get_ex_data(context, 0).map { $0.assumingMemoryBound(to: Collector.self) }
    }

    /// Verifies signatures and dates, and returns 1 where OpenSSL may go on to compare names with constraints.
    ///
    /// On a path that leads nowhere the comparisons are left out: anyone can send one, and it is refused already.
    ///
    /// OpenSSL calls back while it verifies, so nothing here holds the collector meanwhile.
    static func verify(_ context: OpaquePointer, _ collector: UnsafeMutablePointer<Collector>) -> CInt {
        guard let verifySignatures = collector.pointee.verifySignatures else { return 0 }
        let status = verifySignatures(context)
        guard status > 0 else { return status }
        let path = X509Stack.references(in: X509_STORE_CTX_get0_chain(context))
        let hasAnchor = Int(X509_STORE_CTX_get_num_untrusted(context)) < path.count
        collector.pointee.hasAnchor = hasAnchor
        collector.pointee.path = path
        guard hasAnchor else { return 0 }
        switch collector.pointee.mayCompareNames(path) {
        case .allowed: return 1
        case .tooMuchWork: collector.pointee.findings.append(ConstraintWork.exceeded)
        case .unreadable: break
        }
        return 0
    }

    /// Adds the error that OpenSSL has just found, unless it is tolerated.
    mutating func addError(of context: OpaquePointer) {
        let error = X509_STORE_CTX_get_error(context)
        let depth = X509_STORE_CTX_get_error_depth(context)
        guard !isTolerated(error, depth, context), findings.count < 64 else { return }
        let certificate = X509_STORE_CTX_get_current_cert(context)
        if error == X509_V_ERR_UNSPECIFIED, let certificate, X509_get0_pubkey(certificate) == nil {
            findings.append(VerificationError.unreadableKey(of: certificate, depth: Int(depth)))
            return
        }
        if error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, let certificate,
            let key = X509_get0_pubkey(certificate), X509_verify(certificate, key) != 1
        {
            // OpenSSL knows such a certificate by its names and leaves its signature alone.
            findings.append(VerificationError.finding(X509_V_ERR_CERT_SIGNATURE_FAILURE, depth: Int(depth)))
        }
        findings.append(VerificationError.finding(error, depth: Int(depth)))
    }

    private func isTolerated(_ error: Int32, _ depth: Int32, _ context: OpaquePointer) -> Bool {
        switch error {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return isLastSecond(X509_STORE_CTX_get_current_cert(context))
        case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
            X509_V_ERR_CA_CERT_MISSING_KEY_USAGE:
            // Five public roots, made before the profile, lack what STRICT asks for.
            return leafIsAnchor || depth == OPENSSL_sk_num(X509_STORE_CTX_get0_chain(context)) - 1
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA,
            X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN, X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA,
            X509_V_ERR_ISSUER_NAME_EMPTY, X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER,
            X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3:
            return leafIsAnchor
        default:
            return false
        }
    }

    /// notAfter belongs to the period (RFC 5280 section 4.1.2.5); OpenSSL counts that second as past.
    private func isLastSecond(_ certificate: OpaquePointer?) -> Bool {
        guard let certificate, let end = X509_get0_notAfter(certificate) else { return false }
        var now = second
        // Less than or equal is -1, so equality is: not before now, and before the next second.
        let isBeforeNow = { (time: inout Int) in X509_cmp_time(end, &time) }
        var previous = second - 1
        return isBeforeNow(&now) == -1 && isBeforeNow(&previous) == 1
    }
}
