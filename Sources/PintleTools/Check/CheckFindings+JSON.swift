internal import Pintle
internal import PintleOpenSSL

extension CheckFindings {
    /// `{host, port, decision, reason, pathFailure?, raw?, detail?, rule?, matchedPin?, depth?, configuredPins,
    /// presentedCertificates, validatedPath, approval?, previousApproval?, approvalRecord?, unacceptableFailure?,
    /// backupsInUse?}`, and what the handshake showed beside.
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("host", endpoint.host.description)
            json.member("port", Int(endpoint.port))
            json.write(decision)
            json.member("rule", rule?.pattern)
            if decision.mismatch?.rule != nil {
                json.member("nearestMiss", decision.mismatch?.nearestMiss.description)
            }
            json.member("configuredPins", ((host?.pins ?? []) + (host?.backupPins ?? [])).map(\.description))
            json.array("presentedCertificates") { json in
                for place in positions.sent { place.write(to: &json) }
            }
            json.array("validatedPath") { json in
                for place in positions.onPath { place.write(to: &json) }
            }
            writeApprovals(to: &json)
            if !backupsInUse.isEmpty {
                json.array("backupsInUse") { json in
                    for use in backupsInUse { use.write(to: &json) }
                }
            }
            json.member("tlsVersion", connection?.protocolVersion.description)
            json.member("address", connection?.peerAddress)
            json.member("alert", alert)
        }
        return json
    }

    /// What a person has said about this server: what counted, or what does no more.
    private func writeApprovals(to json: inout JSONWriter) {
        func write(_ key: String, _ approval: TrustApproval) {
            json.key(key)
            ApprovalText.write(approval, at: instant, to: &json)
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

extension TrustDecision {
    /// The mismatch, whether it was enforced or only reported.
    var mismatch: PinMismatch? {
        switch self {
        case .rejected(.pinMismatch(let mismatch)), .trusted(.mismatchReportedOnly(let mismatch)): mismatch
        default: nil
        }
    }
}

extension PathPositions.Place {
    /// `{position, subject, issuer, certificateSHA256, spkiPin, notAfter}`; of a certificate that cannot be read
    /// the hash alone.
    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("position", position)
            json.member("subject", certificate?.subject.description)
            json.member("issuer", certificate?.issuer.description)
            json.member("certificateSHA256", CertificatePin(certificate: der).description)
            json.member("spkiPin", certificate?.publicKeyPin.description)
            json.member("notAfter", certificate.map { RFC3339.string(from: $0.validity.notAfter) })
        }
    }
}
