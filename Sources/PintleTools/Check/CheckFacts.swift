internal import Pintle
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient

/// The facts about one live server: the verdict, the path and the connection.
struct CheckFacts {
    let endpoint: ServerEndpoint
    /// The instant of the decision.
    let instant: Date
    let evaluation: TrustEvaluation
    var decision: TrustDecision { evaluation.decision }
    let rule: MatchedRule?
    /// The content of the rule.
    let host: PinnedHost?
    let positions: PathPositions
    /// The connection, if the verdict let the handshake end well.
    let connection: TLSConnection?
    /// The parameters of the connection, as far as the handshake got to them.
    let tls: NegotiatedTLS?
    /// The name of the alert that the server was sent.
    let alert: String?
    /// The answer to the server's CertificateRequest.
    let clientCertificate: ClientAuthentication.Answer
    /// The authorities whose keys are known; `nil` if nothing is said about backups.
    let families: AuthorityFamilies?
    /// The reason why the server ended the connection after the handshake, if it is the client's certificate.
    var clientCertificateFailure: ClientCertificateFailure?
}

extension CheckFacts {
    /// `{host, port, decision, reason, pathFailure?, raw?, detail?, rule?, matchedPin?, depth?, configuredPins,
    /// presentedCertificates, validatedPath, approval?, previousApproval?, approvalRecord?, unacceptableFailure?,
    /// backupsInUse?}`, and the other results of the handshake.
    var document: JSONWriter {
        .document { json in
            json.member("host", endpoint.host.description)
            json.member("port", endpoint.port)
            json.write(decision)
            json.member("rule", rule?.pattern)
            if decision.mismatch?.rule != nil {
                json.member("nearestMiss", decision.mismatch?.nearestMiss)
            }
            json.member("configuredPins", ((host?.pins ?? []) + (host?.backupPins ?? [])).map(\.description))
            json.objects("presentedCertificates", positions.sent) { json, place in place.write(to: &json) }
            json.objects("validatedPath", positions.onPath) { json, place in place.write(to: &json) }
            writeApprovals(to: &json)
            if !backupsInUse.isEmpty {
                json.objects("backupsInUse", backupsInUse) { json, use in
                    json.member("pin", use.pin.description)
                    json.member("position", use.position)
                    json.member("depth", use.depth)
                }
            }
            writeHandshake(to: &json)
        }
    }

    /// Writes `tlsVersion?, cipherSuite?, keyExchangeGroup?, address?, alert?`.
    func writeHandshake(to json: inout JSONWriter) {
        tls?.write(to: &json)
        json.member("address", connection?.peerAddress)
        json.member("alert", alert)
        writeClientCertificate(to: &json)
    }

    /// Writes `clientCertificate?: {shown?, withheld?, misfits?, ended?, authorities, authorityCount, keyTypes}`.
    private func writeClientCertificate(to json: inout JSONWriter) {
        func write(
            _ request: ClientCertificateRequest, _ misfits: [IdentityMisfit], shown: CertificatePin?, withheld: String?
        ) {
            json.object("clientCertificate") { json in
                json.member("shown", shown?.description)
                json.member("withheld", withheld)
                if !misfits.isEmpty { json.member("misfits", misfits.map(\.rawValue)) }
                if clientCertificateFailure != nil { json.member("ended", true) }
                json.member("authorities", request.authorities)
                json.member("authorityCount", request.authorityCount)
                json.member("keyTypes", request.keyTypes)
            }
        }
        switch clientCertificate {
        case .notAsked: break
        case .shown(let identity, let request, let misfits):
            write(request, misfits, shown: identity.fingerprint, withheld: nil)
        case .withheld(let objection, let request, let misfits):
            write(request, misfits, shown: nil, withheld: objection.code)
        }
    }

    /// Writes the approvals of this server: the one that decided, or the one that has ended.
    private func writeApprovals(to json: inout JSONWriter) {
        func write(_ key: String, _ approval: TrustApproval) {
            json.object(key) { ApprovalText.write(approval, at: instant, to: &$0) }
        }
        switch decision {
        case .trusted(.userApproved(let approval)): write("approval", approval)
        case .rejected(.pinMismatch(let mismatch)): mismatch.approval.map { write("approval", $0.approval) }
        case .rejected(.unknownHost(let host)):
            host.previous.map { write("previousApproval", $0) }
            json.member("approvalRecord", host.approvalRecord.rawValue)
            json.member("unacceptableFailure", host.unacceptableFailure?.code.rawValue)
            if !host.exceptionsOfCertificate.isEmpty {
                json.member("exceptionsOfCertificate", host.exceptionsOfCertificate.map(\.rawValue).sorted())
            }
        default: break
        }
    }
}

extension NegotiatedTLS {
    func write(to json: inout JSONWriter) {
        json.member("tlsVersion", version)
        json.member("cipherSuite", cipherSuite)
        json.member("keyExchangeGroup", keyExchangeGroup)
    }
}

extension TrustDecision {
    /// The mismatch, enforced or only reported.
    var mismatch: PinMismatch? {
        switch self {
        case .rejected(.pinMismatch(let mismatch)), .trusted(.mismatchReportedOnly(let mismatch)): mismatch
        default: nil
        }
    }
}

extension PathPositions.Place {
    /// Writes `{position, subject, issuer, certificateSHA256, spkiPin, notAfter}`; only the hash for a certificate that
    /// cannot be read.
    func write(to json: inout JSONWriter) {
        json.member("position", position)
        json.member("subject", certificate?.subject.description)
        json.member("issuer", certificate?.issuer.description)
        json.member("certificateSHA256", CertificatePin(certificate: der).description)
        json.member("spkiPin", certificate?.publicKeyPin.description)
        json.member("notAfter", certificate?.validity.notAfter)
    }
}

/// A backup pin whose key or certificate the server uses already. A thief of the server's keys then has the backup too.
struct BackupInUse {
    let pin: Pin
    let position: String
    /// The depth on the validated path; `nil` if it was sent beside the path, or if there is no path.
    let depth: Int?

    /// The problem in words, to print behind the pin.
    var sentence: String {
        depth.map { "in the live chain at depth \($0): no backup" }
            ?? "sent by the server, not on the path: no backup"
    }
}

extension CheckFacts {
    /// Returns the place where the server uses the key or certificate of this backup pin. The position of the pin does
    /// not count, because the key is in use in any case.
    func use(of pin: Pin) -> BackupInUse? {
        for (index, place) in positions.places.enumerated() where place.shows(pin.subject) {
            return BackupInUse(pin: pin, position: place.position, depth: place.isOnPath ? index : nil)
        }
        return nil
    }

    /// Returns the authority whose key a backup pin is: see ``AuthorityFamilies/authority(ofBackup:in:)``.
    func authority(ofBackup pin: Pin) -> AuthorityFamily? {
        host.flatMap { families?.authority(ofBackup: pin, in: $0) }
    }

    /// The backups in use that the owner of the server has to replace. Keys of authorities do not count.
    var backupsInUse: [BackupInUse] {
        host?.backupPins.filter { authority(ofBackup: $0) == nil }.compactMap(use) ?? []
    }
}
