internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleText

/// The meaning of a verdict, and what to do about it: one entry for each reason.
struct CheckAdvice {
    private let facts: CheckFacts
    private let policy: PinningPolicy
    private let invocation: Invocation
    /// The meaning; `nil` if the details below it say enough.
    private(set) var text: String?
    /// The lines behind `next:`.
    private(set) var steps: [String] = []

    init(on facts: CheckFacts, _ policy: PinningPolicy, _ invocation: Invocation) {
        (self.facts, self.policy, self.invocation) = (facts, policy, invocation)
        switch facts.decision {
        case .trusted(let basis): (text, steps) = entry(basis)
        case .rejected(let rejection): (text, steps) = entry(rejection)
        }
        if let failure = facts.clientCertificateFailure {
            let isMissing = !failure.wasShown && !invocation.arguments.has(.identity)
            let command = { invocation.commandLine(adding: ["--identity", "client.p12"]) }
            steps.insert(isMissing ? "show it a client certificate: " + command() : failure.hint, at: 0)
        }
    }

    /// The command that shows the server's pins.
    private func pin(_ words: String...) -> String {
        let server = facts.endpoint.port == 443 ? "\(facts.endpoint.host)" : "\(facts.endpoint)"
        return Invocation.line(["pintle", "pin", server] + words + invocation.serverOptions)
    }

    private func entry(_ basis: TrustBasis) -> (String?, [String]) {
        switch basis {
        case .pinMatched(let match) where match.isBackup:
            (
                nil,
                facts.authority(ofBackup: match.pin).map { authority in
                    renewal + ["the backup pin that matched is a key of \(authority.name): you need no new backup key"]
                } ?? ["the backup key is in use: make a new backup key and add its pin before this one is lost too"]
            )
        case .pinMatched where !facts.backupsInUse.isEmpty:
            (
                nil,
                [
                    "make a new backup key, keep it where no server uses it, and pin it instead of the one in use:",
                    "pintle pin backup.key",
                ]
            )
        case .hostNotPinned: (nil, ["to pin the host: " + pin("backup.key", "--as", "policy")] + dueRenewal)
        case .pinsExpired(let expired):
            (
                "The path is valid. Its pins were not compared: \(expired).",
                ["ship a release with a later expiry; until then no pin protects \(facts.endpoint.host)"]
            )
        case .mismatchReportedOnly:
            (
                "The path is valid, but no key on it is pinned. The rule only reports: an enforcing one would refuse.",
                ["find out whose key it is before the rule is enforced: " + pin()]
            )
        case .pinMatched, .userApproved: (nil, renewal)
        }
    }

    /// The leaf's renewal, if nothing else is to be done.
    private var renewal: [String] {
        guard let validity = facts.positions.onPath.first?.certificate?.validity, dueRenewal.isEmpty,
            facts.clientCertificateFailure == nil
        else { return dueRenewal }
        return [
            "nothing to do until \(ValidityText.day(ValidityText.lastThird(of: validity))) (leaf enters its last third)"
        ]
    }

    /// Authorities' clients renew when a third of the lifetime is left.
    private var dueRenewal: [String] {
        guard let validity = facts.positions.onPath.first?.certificate?.validity,
            facts.instant >= ValidityText.lastThird(of: validity)
        else { return [] }
        return [
            "the leaf is in its last third, it ends \(ValidityText.day(validity.notAfter)): renew it, with the same key"
        ]
    }

    private func entry(_ rejection: TrustRejection) -> (String?, [String]) {
        switch rejection {
        case .pinMismatch(let mismatch) where mismatch.approval != nil:
            return (
                nil, ["if its owner confirms it: pintle trust revoke \(facts.endpoint) --store \(store), then --ask"]
            )
        case .pinMismatch(let mismatch) where mismatch.pinsHashOfCertificate:
            return (
                "The certificate path is valid. The rule pins the hash of a certificate as if it were that of a key.",
                ["pin the hash of the key, which stays at a renewal with the same key: " + pin()]
            )
        case .pinMismatch(let mismatch):
            // A fingerprint does not identify the key: a renewal with the same key changes it too.
            let (pinned, change) =
                mismatch.pinsCertificates
                ? (
                    "none of the pinned certificates and keys is on it",
                    "certificate was renewed or its key has changed"
                )
                : ("no key on it is pinned", "key has changed")
            return (
                """
                The certificate path is valid, but \(pinned). Either the server's \(change), or something in between \
                holds a certificate that this machine trusts.
                """, doubts("if you changed the key:", "add its pin to the policy (old apps need the update)")
            )
        case .pinsExpired(let expired):
            return (
                "The path is valid, but \(expired), and the rule refuses everything from then on.",
                ["ship a release with current pins and a later expiry"]
            )
        case .unknownHost(let host): return (nil, unknown(host))
        case .invalidPath(let failure):
            let (sentence, steps) = entry(failure)
            let asksPeople = facts.rule == nil && policy.unpinnedHosts == .askUser
            let consequence =
                facts.rejectsTerms
                ? "Pins were not compared."
                : asksPeople
                    ? "An approval cannot accept that."
                    : "Pins were not compared: a pin never makes an invalid path acceptable."
            return ("\(sentence) \(consequence)", steps)
        default:
            let (failure, remedy) = rejection.advice
            let end = facts.evaluation.path == nil ? " Nothing more was examined." : ""
            let command = facts.rule == nil ? ": " + pin("backup.key", "--as", "policy") : ""
            return ("The policy refuses the server: \(failure).\(end)", [remedy + command])
        }
    }

    /// The steps after a verdict that an interception may have caused.
    private func doubts(_ cause: String, _ remedy: String) -> [String] {
        let negation = cause.hasPrefix("if you") ? "if you did not:" : "if it did not:"
        func column(_ text: String) -> String { TextLayout.padded(text, to: 29) }
        return [
            column("look from another network:") + pin(), column(cause) + remedy,
            column(negation) + "treat it as an interception and keep this report (--json)",
        ]
    }

    private func unknown(_ host: UnknownHost) -> [String] {
        if let failure = host.unacceptableFailure, host.exceptionsOfCertificate.isEmpty { return entry(failure).steps }
        switch host.approvalRecord {
        case .complete: break
        case .unreadable:
            return [
                "this server may have been approved with another certificate, so there is no question about it until",
                "that is known. Repair \(store), or set it aside: mv \(store) \(store).old",
            ]
        case .lost:
            return [
                "this server may have been approved with another certificate, so there is no question about it until",
                "that is known. Look into what is left: \(store).corrupt, then move that away",
            ]
        }
        let arguments = invocation.arguments
        let compare = "compare the fingerprint with one you got another way (its console, its owner)"
        guard !arguments.has(.ask) else { return [compare] }
        let more = (arguments.has(.store) ? [] : ["--store", "trust.json"]) + ["--ask"]
        return [compare, invocation.commandLine(without: [.instant], adding: more)]
    }

    /// The store as the command line takes it.
    private var store: String { SafeText.escape(ShellWord.quoted(invocation.arguments[.store] ?? "FILE")) }

    /// The extensions that home-made authorities most often leave out, by OpenSSL's numbers: both key identifiers,
    /// basic constraints that are critical, and the key usage. A rule's anchors forgive them.
    private static let missingFields: [Int: String] = [
        85: "authorityKeyIdentifier=keyid", 86: "subjectKeyIdentifier=hash",
        89: "basicConstraints=critical,CA:TRUE", 92: "keyUsage=critical,keyCertSign,cRLSign",
    ]
    private static let ruleAnchor = "a private root?  add it to the rule: \"anchors\": {\"include\": [\"root.pem\"]}"

    private var usesSystemRoots: Bool {
        facts.host?.anchors.includesSystem != false && !invocation.arguments.has(.anchors)
    }

    /// A Boolean value that indicates whether the machine's roots count but there are none, as in slim containers.
    private var lacksRoots: Bool {
        usesSystemRoots && PublicAuthorities(environment: invocation.environment).isEmpty
    }

    /// Returns a sentence about the failure of a path, and what to do.
    private func entry(_ failure: PathFailure) -> (sentence: String, steps: [String]) {
        let depth = failure.primary.depth ?? 0
        let certificate = facts.positions.place(atDepth: depth)?.certificate
        let validity = certificate?.validity
        let which = depth == 0 ? "The leaf certificate" : "The certificate at depth \(depth)"
        let text = failure.primary.text
        switch failure.code {
        case .emptyChain: return ("The server sent no certificate.", ["configure a certificate on the server"])
        case .limitsExceeded:
            return (
                "The server sent more than the limits allow: \(text).", ["send the leaf and its intermediates only"]
            )
        case .malformedCertificate: return ("\(which) cannot be read.", ["have the certificate issued again"])
        case .invalidSignature:
            return (
                "\(which) carries a signature that its issuer's key did not make.",
                ["send the intermediate that really issued the certificate"]
            )
        case .selfSigned:
            return (
                "\(which) is signed by itself, and no trusted authority vouches for it.", rootSteps(failure)
            )
        case .untrustedRoot:
            return ("The path does not lead to a root that is trusted here.", rootSteps(failure))
        case .notACA: return ("\(which) signs another one, and is not an authority.", [Self.otherAuthority])
        case .pathLengthExceeded:
            return (
                "There are more authorities on the path than one of them allows below it.", [Self.otherAuthority]
            )
        case .nameConstraintViolation:
            return ("An authority on the path may not vouch for this name.", [Self.otherAuthority])
        case .unhandledCriticalExtension:
            return (
                "\(which) has a critical extension that the validation does not process.",
                ["have the certificate issued without it"]
            )
        case .noValidCertificatePolicy:
            return (
                failure.primary.depth == nil
                    ? "A certificate on the path requires a certificate policy, and none is valid on the whole path."
                    : "\(which) has certificate policies that cannot be read or contradict themselves.",
                [
                    "have the certificate issued with a policy that its authority allows,",
                    "or by an authority that requires none",
                ]
            )
        case .unsuitablePurpose:
            return ("\(which) is not for TLS servers.", ["have the certificate issued with the purpose serverAuth"])
        case .weakKey:
            return (
                "\(which) has \(certificate?.keyFlaw ?? "a key that is too weak").",
                ["make a new key (EC P-256, or RSA of 2048 bits or more) and add its pin before you use it"]
            )
        case .weakSignature:
            return (
                "\(which) is signed with an algorithm that is too weak.",
                ["have the certificate issued again, signed with SHA-256 or better"]
            )
        case .notYetValid:
            let days = validity.map { (ValidityText.day($0.notBefore), ValidityText.day(facts.instant)) }
            return (
                days.map { "\(which) begins \($0), and it is \($1) by the clock." } ?? "\(which) is not valid yet.",
                ["check this machine's clock, then the server's certificate"]
            )
        case .expired:
            let end = validity.map(\.notAfter)
            return (
                end.map {
                    "\(which) ended \(ValidityText.day($0)), "
                        + "\(ValidityText.span(from: $0, to: facts.instant)) ago by the clock."
                } ?? "\(which) has expired.", ["renew the certificate. With the same key the pins stay as they are"]
            )
        case .nameMismatch:
            return (
                certificate.map { ($0.subjectAlternativeNames ?? []).isEmpty } ?? false
                    ? "The certificate has no subject alternative name, and the common name does not count."
                    : "The certificate is not for \(facts.endpoint.host).",
                ["ask for a name that the certificate is for, or have it issued with this one"]
            )
        case .other where facts.rejectsTerms:
            return (
                "The path is valid, and the rule asks for more: \(text).",
                doubts("if the authority changed:", "change the rule's minimumPathLength or issuerKey")
            )
        case .other:
            let field = failure.primary.platformCode.flatMap { Self.missingFields[$0] }
            let extensions =
                "issue the certificate again with the extensions that RFC 5280 section 4.2.1 asks for; openssl's:"
            return (
                failure.primary.depth == nil
                    ? "The path could not be validated."
                    : "\(which) breaks the profile that certificates have to keep: \(text).",
                field.map { [extensions, $0, Self.ruleAnchor] } ?? ["see the raw error above"]
            )
        }
    }

    private static let otherAuthority = "have the certificate issued by an authority that may do so"

    private func rootSteps(_ failure: PathFailure) -> [String] {
        var steps: [String] = []
        if usesSystemRoots, let text = invocation.missingRoots { steps.append(text) }
        if lacksRoots {
            steps.append("this machine has no roots at all: install ca-certificates, or see SSL_CERT_FILE")
        }
        steps.append(
            facts.host == nil
                ? "a private root?  make a rule with it: {\"host\": \"\(facts.endpoint.host)\", \"anchors\": "
                    + "{\"include\": [\"root.pem\"]}}"
                : Self.ruleAnchor)
        steps.append("                 or try it first: --anchors root.pem")
        // A server's certificate that is signed by itself has no intermediates.
        if failure.code != .selfSigned {
            steps.append(
                failure.unreadableIssuer == nil
                    ? "a public one?    the server must send its intermediates"
                    : "a public one?    have the intermediate that cannot be read issued again")
        }
        return steps
    }
}

extension PathFailure.Finding {
    /// `X509_V_ERR 10 at depth 0: certificate has expired`
    var rawText: String {
        let number = platformCode.map { "X509_V_ERR \($0)" }
        let head = [number, depth.map { "at depth \($0)" }].compactMap(\.self).joined(separator: " ")
        return head.isEmpty ? text : "\(head): \(text)"
    }
}

extension PinMismatch {
    /// A Boolean value that indicates whether a certificate is pinned, not only keys.
    var pinsCertificates: Bool { (pins + backupPins).contains { $0.fingerprint != nil } }
}

extension CheckFacts {
    /// A Boolean value that indicates whether the path is valid but does not meet the rule's terms about its length or
    /// the leaf's issuer.
    var rejectsTerms: Bool {
        guard case .rejected(.invalidPath) = evaluation.decision else { return false }
        return evaluation.path != nil
    }
}
