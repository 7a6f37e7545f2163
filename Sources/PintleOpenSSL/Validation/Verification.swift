internal import COpenSSL
internal import Pintle
internal import PintleSystem

/// A call of `X509_verify_cert` with this package's settings.
///
/// `X509_V_FLAG_X509_STRICT` enforces the profile. `PARTIAL_CHAIN` allows a private intermediate as an anchor. Security
/// level 2 requires 112 bits and excludes SHA-1. The purpose is `sslserver`. Names come only from the subject
/// alternative names, and a wildcard must be a whole label. The call continues after each error, so that it reports all
/// of them.
struct Verification {
    let host: ServerName
    let instant: Date
    let maximumIntermediates: Int
    /// The anchors that a rule brought. On a path to one of them, authorities may lack key identifiers, a key usage
    /// and the criticality of basic constraints: private authorities often do, and public ones never.
    let anchorsOfRule: [Certificate]
    /// The answer to whether OpenSSL may compare names with name constraints.
    enum Comparison {
        case allowed
        case tooMuchWork
        /// The core cannot parse a certificate on the path.
        case unreadable(PathFailure.Finding)
    }

    /// Returns whether OpenSSL may compare the names on this path, leaf first, with the name constraints on it.
    let mayCompareNames: ([X509Reference]) -> Comparison
    /// A Boolean value that indicates whether the leaf itself is the anchor. Then the CA bit, key usages and the
    /// profile of public certificates do not apply to it; name, dates and key strength do.
    var leafIsAnchor = false

    struct Result {
        /// The path, leaf first. Complete only if there are no findings.
        var path: [X509Reference] = []
        var findings: [PathFailure.Finding] = []
        /// A Boolean value that indicates whether the path that OpenSSL has built ends in an anchor.
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
            anchorsOfRule: anchorsOfRule, mayCompareNames: mayCompareNames,
            verifySignatures: X509_STORE_CTX_get_verify(context))
        return withUnsafeMutablePointer(to: &collector) { collector in
            X509_STORE_CTX_set_ex_data(context, 0, UnsafeMutableRawPointer(collector))
            X509_STORE_CTX_set_verify_cb(context) { isGood, context in
                guard isGood != 1, let context else { return 1 }
                let collector = Collector.attached(to: context)
                collector?.pointee.addError(of: context)
                // OpenSSL finds a weak key first. If its error stayed, OpenSSL would report it again in place of the
                // result of the search for an anchor.
                if collector != nil { X509_STORE_CTX_set_error(context, X509_V_OK) }
                return collector == nil ? 0 : 1
            }
            // OpenSSL compares names with constraints directly after this step. It has then built the path and reported
            // all other errors.
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
                    VerificationCodes.finding(error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error, depth: 0)
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
        // The flags are needed for addresses too. Without them OpenSSL would look at the common name of a certificate
        // whose only name is an address.
        X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        if let address = host.ipAddress {
            return X509_VERIFY_PARAM_set1_ip(parameters, address.octets, address.octets.count) == 1
        }
        let name = host.description
        return X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
    }

    /// Returns whether OpenSSL can represent the instant. It takes whole seconds, while a `Date` may have any value.
    static func canJudge(_ instant: Date) -> Bool { abs(instant.timeIntervalSince1970) < 1e15 }

    static let outOfMemory = VerificationCodes.finding(X509_V_ERR_OUT_OF_MEM, depth: 0)
}

/// Collects the errors that OpenSSL's callback reports.
private struct Collector {
    let second: Int
    let leafIsAnchor: Bool
    let anchorsOfRule: [Certificate]
    let mayCompareNames: ([X509Reference]) -> Verification.Comparison
    /// OpenSSL's original step, which verifies signatures and dates.
    let verifySignatures: X509_STORE_CTX_verify_fn?
    var findings: [PathFailure.Finding] = []
    var hasAnchor = true
    /// The path whose signatures were verified. OpenSSL does not change it afterwards.
    var path: [X509Reference]?

    static func attached(to context: OpaquePointer) -> UnsafeMutablePointer<Collector>? {
        X509_STORE_CTX_get_ex_data(context, 0).map { $0.assumingMemoryBound(to: Collector.self) }
    }

    /// Verifies signatures and dates. Returns 1 if OpenSSL may continue and compare names with constraints.
    ///
    /// The comparisons are skipped on a path without an anchor: it is already refused, and anyone can send one.
    ///
    /// OpenSSL calls back while it verifies, so this function takes a pointer: exclusive access to the collector would
    /// conflict with the callback.
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
        case .unreadable(let finding): collector.pointee.findings.append(finding)
        }
        return 0
    }

    private static let errorsOfUnreadableKeys = [
        X509_V_ERR_UNSPECIFIED, X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL,
        X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY,
    ]

    /// Adds the error that OpenSSL has just reported, unless it is tolerated.
    mutating func addError(of context: OpaquePointer) {
        let error = X509_STORE_CTX_get_error(context)
        let depth = X509_STORE_CTX_get_error_depth(context)
        guard !isTolerated(error, depth, context), findings.count < 64 else { return }
        let certificate = X509_STORE_CTX_get_current_cert(context)
        // OpenSSL reports a key that it cannot decode by one or several of these errors.
        if Self.errorsOfUnreadableKeys.contains(error), let certificate, X509_get0_pubkey(certificate) == nil {
            let finding = VerificationCodes.unreadableKey(of: certificate, depth: Int(depth), error)
            if !findings.contains(where: { $0.code == finding.code && $0.depth == finding.depth }) {
                findings.append(finding)
            }
            return
        }
        if error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, let certificate,
            let key = X509_get0_pubkey(certificate), X509_verify(certificate, key) != 1
        {
            // OpenSSL recognizes a self-signed certificate by its names and does not check its signature.
            findings.append(VerificationCodes.finding(X509_V_ERR_CERT_SIGNATURE_FAILURE, depth: Int(depth)))
        }
        findings.append(VerificationCodes.finding(error, depth: Int(depth)))
    }

    private func isTolerated(_ error: Int32, _ depth: Int32, _ context: OpaquePointer) -> Bool {
        switch error {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return isLastSecond(X509_STORE_CTX_get_current_cert(context))
        case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
            X509_V_ERR_CA_CERT_MISSING_KEY_USAGE:
            // Five public roots are older than the profile and lack what STRICT requires.
            return leafIsAnchor || depth == OPENSSL_sk_num(X509_STORE_CTX_get0_chain(context)) - 1
                || endsInAnchorOfRule(context)
        case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER:
            return leafIsAnchor || endsInAnchorOfRule(context)
        case X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN:
            // OpenSSL also reports it if there is no key usage at all.
            let certificate = X509_STORE_CTX_get_current_cert(context)
            return leafIsAnchor
                || endsInAnchorOfRule(context) && certificate.map { X509_get_key_usage($0) == UInt32.max } ?? false
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA,
            X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA,
            X509_V_ERR_ISSUER_NAME_EMPTY, X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL,
            X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3:
            return leafIsAnchor
        default:
            return false
        }
    }

    private func endsInAnchorOfRule(_ context: OpaquePointer) -> Bool {
        let chain = X509_STORE_CTX_get0_chain(context)
        guard !anchorsOfRule.isEmpty, let last = OPENSSL_sk_value(chain, OPENSSL_sk_num(chain) - 1) else {
            return false
        }
        let anchor = X509Reference(borrowing: OpaquePointer(last)).der
        return anchorsOfRule.contains { $0.der == anchor }
    }

    /// Returns whether this second is the certificate's notAfter. It still belongs to the validity period (RFC 5280
    /// section 4.1.2.5), but OpenSSL treats it as expired.
    private func isLastSecond(_ certificate: OpaquePointer?) -> Bool {
        guard let certificate, let end = X509_get0_notAfter(certificate) else { return false }
        // Unlike X509_cmp_time, which OpenSSL 4.0 deprecates, this function tells equal from earlier.
        return ASN1_TIME_cmp_time_t(end, second) == 0
    }
}

/// The remaining comparisons of names with name constraints, and of certificate policies, for one request, over all its
/// paths.
///
/// A class, because all verifications of the request share the same amount. Not thread-safe: use it on one thread.
final class ConstraintWork {
    private var left: Int64

    init(_ budget: PathBudget) {
        left = Int64(max(0, budget.nameComparisons))
    }

    /// Subtracts comparisons from the remaining amount. Returns `false` if not enough are left.
    func spend(_ comparisons: Int64) -> Bool {
        guard comparisons <= left else { return false }
        left -= comparisons
        return true
    }

    /// The finding for a request that needs too many comparisons.
    static let exceeded = PathFailure.Finding(
        .limitsExceeded, text: "more comparisons of names with name constraints than are made for one chain")
    /// The finding for a request with too many policies to compare.
    static let tooManyPolicies = PathFailure.Finding(
        .limitsExceeded, text: "more certificate policies than are compared for one chain")
}
