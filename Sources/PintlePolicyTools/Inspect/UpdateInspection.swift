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
        report.add(Self.facts, of: self)
        if let policy { report += PolicyInspection.report(on: policy, now: invocation.now) }
        return report
    }

    private var document: JSONWriter {
        .document { json in
            json.write(Self.facts, of: self)
            if let policy {
                json.key("policy")
                policy.write(to: &json)
            }
        }
    }

    private static let facts: [Fact<UpdateInspection>] = [
        Fact("source") { $0.file.path }, Fact("kind") { _ in "update" }, Fact("verified") { _ in false },
        Fact("payloadType") { $0.envelope.payloadType },
        Fact("signatures", "The keys", listing: signature) { $0.envelope.signatures }
            .shown(as: "signed by") { update in
                let signatures = update.envelope.signatures
                return signatures.isEmpty
                    ? ["no key"] : signatures.map { "\($0.keyID ?? ""), as it says itself" }
            },
        Fact("version") { update in
            if case .number(let number)? = update.payload?.version { number } else { nil }
        },
        Fact("issuedAt") { $0.payload?.issuedAt }
            .shown(as: "issued") { update in update.payload.map { ["\(RFC3339.string(from: $0.issuedAt))"] } ?? [] },
        Fact("expiresAt") { $0.payload?.expiresAt }
            .shown(as: "expires") { update in update.payload.map { ["\(RFC3339.string(from: $0.expiresAt))"] } ?? [] },
        Fact("ignoredMembers") { $0.ignoredMembers.isEmpty ? nil : $0.ignoredMembers }
            .shown(as: "ignored") { update in
                update.ignoredMembers.map { "the payload's \(JSONWriter.quoted($0))" }
            },
        Fact("problem", "The problem", reason) { $0.problem }
            .shown(as: "problem") { update in
                guard let problem = update.problem else { return [] }
                return ["\(problem.code.rawValue): \(problem)"] + problem.details.map { "\($0)" }
            },
    ]

    private static let signature: [Fact<SignedEnvelope.Signature>] = [Fact("keyid") { $0.keyID ?? "" }]

    private static let reason: [Fact<UpdateError.Reason>] = [
        Fact("code") { $0.code.rawValue }, Fact("message") { "\($0)" },
    ]

    private var ignoredMembers: [String] { payload?.ignoredMembers ?? [] }
}
