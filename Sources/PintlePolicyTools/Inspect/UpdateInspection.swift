internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleUpdates

/// The claims of an update. No signature is checked.
struct UpdateInspection {
    let file: InputFile
    let invocation: Invocation
    private let envelope: SignedEnvelope
    private let payload: UpdatePayload?
    private let policy: PinningPolicy?
    /// The verdict of an app if the signatures were valid.
    private let problem: UpdateError.Reason?

    /// - Throws: the problem that keeps the envelope from being read, for the person who made it.
    init(_ file: InputFile, _ invocation: Invocation) throws(ToolError) {
        self.file = file
        self.invocation = invocation
        do throws(UpdateError.Reason) {
            envelope = try SignedEnvelope(file.bytes)
        } catch {
            throw .unusable(error.code.rawValue, "\(error)", file: file.name)
        }
        (payload, policy, problem) = Self.content(of: envelope)
    }

    private static func content(of envelope: SignedEnvelope) -> (UpdatePayload?, PinningPolicy?, UpdateError.Reason?) {
        guard envelope.payloadType == SignedEnvelope.policyType else {
            return (nil, nil, .unknownPayloadType(envelope.payloadType))
        }
        let payload: UpdatePayload
        do throws(UpdateError.Reason) {
            payload = try UpdatePayload(envelope.payload)
        } catch {
            return (nil, nil, error)
        }
        do throws(PolicyError) {
            return (payload, try PinningPolicy(json: payload.policy), nil)
        } catch {
            return (payload, nil, .invalidPolicy(error.problems))
        }
    }

    func show() {
        invocation.print(report, orJSON: document)
    }

    private var version: String {
        guard let payload else { return "" }
        return if case .number(let number) = payload.version { ", version \(number)" } else {
            ", version beyond the highest there is"
        }
    }

    private var report: Report {
        var report = Report("\(file.name)   update\(version); nothing was verified")
        report.gap()
        report.layout.labelColumns = 13
        for signature in envelope.signatures {
            report.fact("signed by", "\(signature.keyID ?? ""), as it says itself")
        }
        if envelope.signatures.isEmpty { report.fact("signed by", "no key") }
        if let payload {
            report.fact("issued", "\(RFC3339.string(from: payload.issuedAt))")
            report.fact("expires", "\(RFC3339.string(from: payload.expiresAt))")
            for name in payload.ignoredMembers { report.fact("ignored", "the payload's \(JSONWriter.quoted(name))") }
        }
        if let problem {
            report.fact("problem", ["\(problem.code.rawValue): \(problem)"] + problem.details.map { "\($0)" })
        }
        if let policy { report += PolicyInspection.report(on: policy, now: invocation.now) }
        return report
    }

    private var document: JSONWriter {
        .document { json in
            json.member("source", file.path)
            json.member("kind", "update")
            json.member("verified", false)
            json.member("payloadType", envelope.payloadType)
            json.objects("signatures", envelope.signatures) { $0.member("keyid", $1.keyID ?? "") }
            if let payload {
                if case .number(let number) = payload.version { json.member("version", number) }
                json.member("issuedAt", payload.issuedAt)
                json.member("expiresAt", payload.expiresAt)
                if !payload.ignoredMembers.isEmpty { json.member("ignoredMembers", payload.ignoredMembers) }
            }
            if let problem {
                json.object("problem") { json in
                    json.member("code", problem.code.rawValue)
                    json.member("message", "\(problem)")
                }
            }
            if let policy {
                json.key("policy")
                policy.write(to: &json)
            }
        }
    }
}
