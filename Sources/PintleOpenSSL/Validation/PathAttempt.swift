internal import COpenSSL
internal import Pintle

/// The result so far of one request: the best path, or the failure that came closest to success.
struct PathAttempt {
    let request: PathRequest
    let others: [PresentedIssuer]
    let store: AnchorStore
    let profile: PathProfile
    let budget: PathBudget
    /// A text about each certificate that the server sent and that OpenSSL may not use.
    private let unusable: [String]
    private let work: ConstraintWork
    private var names: LeafNames
    private var valid: ValidatedPath?
    private var failure: [PathFailure.Finding]?
    private(set) var isSettled = false

    init(
        request: PathRequest, others: [PresentedIssuer], unusable: [String] = [], store: AnchorStore,
        profile: PathProfile, budget: PathBudget
    ) {
        self.request = request
        self.unusable = unusable
        self.others = others
        self.store = store
        self.profile = profile
        self.budget = budget
        work = ConstraintWork(budget)
        names = LeafNames(request)
    }

    /// The valid path if there is one. The budget matters only if no path was found.
    var outcome: PathOutcome {
        if let valid { return .valid(valid) }
        var findings = failure ?? [.init(.untrustedRoot, text: "no path to an anchor")]
        if usesUnknownAlgorithm {
            let hint = "an ML-DSA key (FIPS 204) needs OpenSSL 3.5, and here is \(openSSLVersion)"
            for index in findings.indices
            where [.weakKey, .invalidSignature, .untrustedRoot].contains(findings[index].code) {
                let finding = findings[index]
                findings[index] = .init(
                    finding.code, depth: finding.depth, platformCode: finding.platformCode,
                    text: "\(finding.text); \(hint)")
            }
        }
        if findings.contains(where: { $0.code == .untrustedRoot }) { findings += unreadableExtensions.prefix(64) }
        let failure = PathFailure(findings) ?? PathFailure(.untrustedRoot, text: "no path to an anchor")
        return .invalid(failure.naming(unreadable: request.chain.unreadable + unusable))
    }

    /// A Boolean value that indicates whether the leaf, or an issuer that leads from it, has a key that this OpenSSL
    /// does not know.
    private var usesUnknownAlgorithm: Bool {
        guard OpenSSL_version_num() < 0x3050_0000 else { return false }
        return issuersByName.contains { if case .mlDSA = $0.publicKey.algorithm { true } else { false } }
    }

    /// Findings about extensions that cannot be read, in the leaf and in the issuers that lead from it. OpenSSL uses no
    /// certificate with such an extension as an issuer or below one, so it finds no path and no reason.
    private var unreadableExtensions: [PathFailure.Finding] {
        issuersByName.enumerated().flatMap { depth, certificate in
            depth > 0 && certificate.subjectDER == certificate.issuerDER ? [] : certificate.syntaxFindings(at: depth)
        }
    }

    /// The leaf, and the issuers that lead from it by their names. Other certificates that the server sent have nothing
    /// to do with the path.
    private var issuersByName: [Certificate] {
        var certificates = [request.chain.leaf]
        while certificates.count <= others.count, let last = certificates.last,
            let issuer = others.first(where: { $0.certificate.subjectDER == last.issuerDER })?.certificate,
            !certificates.contains(issuer)
        {
            certificates.append(issuer)
        }
        return certificates
    }

    private var verification: Verification {
        Verification(
            host: request.host, instant: request.instant, maximumIntermediates: budget.maximumIntermediates,
            anchorsOfRule: request.anchors.certificates, mayCompareNames: mayCompareNames)
    }

    /// Counts the comparisons of names on a path that OpenSSL has built, and returns whether the budget allows them.
    private func mayCompareNames(_ path: [X509Reference]) -> Verification.Comparison {
        var certificates: [Certificate] = []
        for (depth, reference) in path.enumerated() {
            do {
                certificates.append(try certificate(reference, at: depth))
            } catch {
                return .unreadable(Self.unreadable(error, at: depth))
            }
        }
        return work.spend(NameComparisons.steps(certificates)) ? .allowed : .tooMuchWork
    }

    /// Tries the server's certificate as its own anchor, because the caller named it as one.
    mutating func tryLeafAsAnchor(_ leaf: X509Reference) {
        guard let store = AnchorStore([leaf]), let nothing = X509Stack([]) else { return }
        var verification = verification
        verification.leafIsAnchor = true
        record(verification.run(leaf: leaf, untrusted: nothing, store: store), leafIsAnchor: true)
    }

    /// Tries the path that OpenSSL finds by itself.
    mutating func tryPath(_ run: (Verification) -> Verification.Result) {
        record(run(verification))
    }

    /// Tries exactly this path, whose signatures are known to be good.
    mutating func tryPath(_ path: [X509Reference]) {
        // OpenSSL would not follow an issuer that may not sign, and would report an unknown root instead. It is not
        // even called here, because the owner of any certificate can make such paths by the hundred.
        let refusals = Self.issuerRefusals(path)
        guard refusals.isEmpty else { return record(Verification.Result(findings: refusals)) }
        guard let leaf = path.first, let anchor = path.last, let store = AnchorStore([anchor]),
            let untrusted = X509Stack(path.dropFirst().dropLast())
        else { return }
        record(verification.run(leaf: leaf, untrusted: untrusted, store: store))
    }

    /// Adds the finding that the budget ran out before a good path was found.
    mutating func addExhaustion() {
        let finding = PathFailure.Finding(
            .limitsExceeded, text: "more paths than are worth trying; none of those tried was good")
        failure = (failure ?? []) + [finding]
    }

    private mutating func record(_ result: Verification.Result, leafIsAnchor: Bool = false) {
        var findings = result.findings
        var certificates: [Certificate] = []
        for (depth, reference) in result.path.enumerated() {
            do {
                certificates.append(try certificate(reference, at: depth))
            } catch {
                findings.append(Self.unreadable(error, at: depth))
            }
        }
        if certificates.count == result.path.count {
            let compares = result.hasAnchor && work.spend(NameComparisons.exclusionSteps(certificates))
            if result.hasAnchor, !compares { findings.append(ConstraintWork.exceeded) }
            // The same certificate may also be a root of the system: then the rule decides.
            let anchorIsOfRule = certificates.last.map(request.anchors.certificates.contains) ?? false
            findings += profile.findings(
                certificates, leafIsAnchor: leafIsAnchor, anchorIsOfRule: anchorIsOfRule,
                comparesConstraints: compares)
            if result.hasAnchor { findings += policyFindings(PathPolicies(certificates), result.path) }
            if !certificates.isEmpty { findings += names.findings(beside: findings) }
        }
        if let anchor = result.path.last, anchor.deniesItsOwnSignature {
            findings.append(
                .init(
                    .other, depth: result.path.count - 1,
                    text: "an anchor that names another key as its issuer's than the one that signed it"))
        }
        // Remove the failures that a user has accepted for this leaf. OpenSSL continues after each error, so all other
        // failures stay in the list.
        if leafIsAnchor { findings.removeAll { request.accepts($0.code) } }
        if findings.isEmpty, !certificates.isEmpty {
            let path = ValidatedPath(uncheckedLeafToAnchor: certificates.map(\.der))
            isSettled = request.isSatisfied(by: path)
            if isSettled || valid.map({ !request.meetsTerms($0) && request.meetsTerms(path) }) ?? true { valid = path }
        } else if failure.map({ Self.isCloser(findings, than: $0) }) ?? true {
            failure = findings
        }
    }

    /// Evaluates the certificate policies on a path that ends in an anchor, within the budget.
    private func policyFindings(_ policies: PathPolicies, _ path: [X509Reference]) -> [PathFailure.Finding] {
        guard policies.areRestricted else { return [] }
        guard work.spend(policies.steps) else { return [ConstraintWork.tooManyPolicies] }
        return PolicyEvaluation.findings(path, includesAnchor: policies.includesAnchor)
    }

    /// Returns the certificate as the core has already parsed it. Every certificate of OpenSSL's path is the leaf, a
    /// sent certificate or an anchor.
    private func certificate(_ reference: X509Reference, at depth: Int) throws(DERError) -> Certificate {
        if depth == 0 { return request.chain.leaf }
        if let sent = others.first(where: { $0.reference.pointer == reference.pointer }) { return sent.certificate }
        return try store.certificate(for: reference)
    }

    /// Returns the finding for a certificate that the core cannot parse.
    private static func unreadable(_ error: DERError, at depth: Int) -> PathFailure.Finding {
        .init(.malformedCertificate, depth: depth, text: error.description)
    }

    /// Returns whether a path with these findings failed for a less fundamental reason.
    private static func isCloser(_ findings: [PathFailure.Finding], than others: [PathFailure.Finding]) -> Bool {
        guard let mine = PathFailure(findings), let theirs = PathFailure(others) else { return false }
        let codes = PathFailure.Code.allCases
        guard let rank = codes.firstIndex(of: mine.code), let other = codes.firstIndex(of: theirs.code) else {
            return false
        }
        return rank == other ? findings.count < others.count : rank > other
    }

    /// Returns findings for issuers whose key has signed, although they may not sign.
    private static func issuerRefusals(_ path: [X509Reference]) -> [PathFailure.Finding] {
        zip(path, path.dropFirst()).enumerated().compactMap { index, pair in
            var error = X509_check_issued(pair.1.pointer, pair.0.pointer)
            if error == X509_V_OK, X509_check_ca(pair.1.pointer) == 0 { error = X509_V_ERR_INVALID_CA }
            return error == X509_V_OK ? nil : VerificationCodes.finding(error, depth: index + 1)
        }
    }
}
