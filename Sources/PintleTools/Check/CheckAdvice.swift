internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleText

/// The advice after a verdict: the lines behind `next:`.
struct CheckAdvice {
    let facts: CheckFacts
    let invocation: Invocation

    var lines: [String] {
        switch facts.decision {
        case .trusted(let basis): trusted(basis)
        case .rejected(let rejection): rejected(rejection)
        }
    }

    /// The server as the command line takes it.
    private var server: String {
        facts.endpoint.port == 443 ? "\(facts.endpoint.host)" : "\(facts.endpoint)"
    }

    private func trusted(_ basis: TrustBasis) -> [String] {
        switch basis {
        case .pinMatched(let match) where match.isBackup:
            return ["the backup key is in use: make a new backup key and add its pin before this one is lost too"]
        case .pinMatched where !facts.backupsInUse.isEmpty:
            return [
                "make a new backup key, keep it where no server uses it, and pin it instead of the one in use:",
                "pintle pin backup.key",
            ]
        case .pinMatched, .hostNotPinned:
            var lines = [renewal]
            if case .hostNotPinned = basis {
                lines.append("to pin the host: pintle pin \(server) backup.key --as policy")
            }
            return lines.compactMap(\.self)
        case .pinsExpired:
            return ["ship a release with a later expiry; until then no pin protects \(facts.endpoint.host)"]
        case .userApproved:
            return [renewal].compactMap(\.self)
        case .mismatchReportedOnly:
            return ["find out whose key it is before the rule is enforced: pintle pin \(server)"]
        }
    }

    /// Authorities' clients renew when a third of the lifetime is left.
    private var renewal: String? {
        guard let validity = facts.positions.onPath.first?.certificate?.validity else { return nil }
        let due = ValidityText.lastThird(of: validity)
        return facts.instant < due
            ? "nothing to do until \(ValidityText.day(due)) (leaf enters its last third)"
            : "the leaf is in its last third, it ends \(ValidityText.day(validity.notAfter)): renew it, "
                + "with the same key"
    }

    private func rejected(_ rejection: TrustRejection) -> [String] {
        switch rejection {
        case .pinMismatch(let mismatch) where mismatch.approval != nil:
            ["if its owner confirms it: pintle trust revoke \(facts.endpoint) --store \(store), then --ask"]
        case .pinMismatch:
            [
                "look from another network:   pintle pin \(server)",
                "if you changed the key:      add its pin to the policy (old apps need the update)",
                "if you did not:              treat it as an interception and keep this report (--json)",
            ]
        case .pinsExpired: ["ship a release with current pins and a later expiry"]
        case .hostNotAllowed: ["add a rule for it: pintle pin \(server) backup.key --as policy"]
        case .unknownHost(let host):
            unknown(host)
        case .invalidPath(let failure): remedy(failure)
        }
    }

    private func unknown(_ host: UnknownHost) -> [String] {
        if let failure = host.unacceptableFailure, host.exceptionsOfCertificate.isEmpty { return remedy(failure) }
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

    /// A Boolean value that indicates whether the machine's roots count but there are none, as in slim containers.
    private var lacksRoots: Bool {
        guard facts.host?.anchors.includesSystem != false, !invocation.arguments.has(.anchors) else { return false }
        return PublicAuthorities(environment: invocation.environment).isEmpty
    }

    private func remedy(_ failure: PathFailure) -> [String] {
        switch failure.code {
        case .emptyChain: ["configure a certificate on the server"]
        case .limitsExceeded: ["send the leaf and its intermediates only"]
        case .malformedCertificate: ["have the certificate issued again"]
        case .invalidSignature: ["send the intermediate that really issued the certificate"]
        case .selfSigned, .untrustedRoot:
            (lacksRoots ? ["this machine has no roots at all: install ca-certificates, or see SSL_CERT_FILE"] : []) + [
                facts.host == nil
                    ? "a private root?  make a rule with it: {\"host\": \"\(facts.endpoint.host)\", \"anchors\": "
                        + "{\"include\": [\"root.pem\"]}}"
                    : Self.ruleAnchor,
                "                 or try it first: --anchors root.pem",
                failure.unreadableIssuer == nil
                    ? "a public one?    the server must send its intermediates"
                    : "a public one?    have the intermediate that cannot be read issued again",
            ]
        case .notACA, .pathLengthExceeded, .nameConstraintViolation:
            ["have the certificate issued by an authority that may do so"]
        case .unhandledCriticalExtension: ["have the certificate issued without it"]
        case .noValidCertificatePolicy:
            [
                "have the certificate issued with a policy that its authority allows,",
                "or by an authority that requires none",
            ]
        case .unsuitablePurpose: ["have the certificate issued with the purpose serverAuth"]
        case .weakKey: ["make a new key (EC P-256, or RSA of 2048 bits or more) and add its pin before you use it"]
        case .weakSignature: ["have the certificate issued again, signed with SHA-256 or better"]
        case .notYetValid: ["check this machine's clock, then the server's certificate"]
        case .expired: ["renew the certificate. With the same key the pins stay as they are"]
        case .nameMismatch: ["ask for a name that the certificate is for, or have it issued with this one"]
        case .other where failure.primary.platformCode.flatMap { Self.missingFields[$0] } != nil:
            [
                "issue the certificate again with the extensions that RFC 5280 section 4.2.1 asks for; openssl's:",
                failure.primary.platformCode.flatMap { Self.missingFields[$0] } ?? "", Self.ruleAnchor,
            ]
        case .other where facts.rejectsTerms:
            [
                "look from another network:   pintle pin \(server)",
                "if the authority changed:    change the rule's minimumPathLength or issuerKey",
                "if it did not:               treat it as an interception and keep this report (--json)",
            ]
        case .other: ["see the raw error above"]
        }
    }
}
