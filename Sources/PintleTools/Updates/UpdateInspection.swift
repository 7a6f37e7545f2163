internal import Pintle
internal import PintleUpdates

/// What an update claims. No signature is checked.
struct UpdateInspection {
    let file: InputFile
    let invocation: Invocation
    private let envelope: SignedEnvelope
    private let payload: UpdatePayload
    private let policy: PinningPolicy

    /// Whether a document means to be an update.
    static func isUpdate(_ root: JSONValue) -> Bool {
        root["payload"] != nil && (root["payloadType"] != nil || root["signatures"] != nil)
    }

    /// - Throws: what keeps it from being read, for people who made it.
    init(_ file: InputFile, _ invocation: Invocation) throws(ToolError) {
        self.file = file
        self.invocation = invocation
        do {
            envelope = try SignedEnvelope(file.bytes)
            guard envelope.payloadType == SignedEnvelope.policyType else {
                throw UpdateFailure.unknownPayloadType(envelope.payloadType)
            }
            payload = try UpdatePayload(envelope.payload)
            do throws(PolicyError) {
                policy = try PinningPolicy(json: payload.policy)
            } catch {
                throw UpdateFailure.invalidPolicy(error.problems)
            }
        } catch {
            let code = (error as? UpdateFailure)?.code.rawValue ?? "unreadable-update"
            throw .unusable(code, "\(error)", file: file.name)
        }
    }

    func show() {
        if invocation.writesJSON { invocation.console.print(document) } else { print() }
    }

    private var version: String {
        if case .number(let number) = payload.version { "\(number)" } else { "beyond the highest there is" }
    }

    private func print() {
        let console = invocation.console
        console.print(
            "\(SafeText.escape(file.name))   update, version \(version); nothing was verified")
        console.print()
        func field(_ label: String, _ value: String) {
            console.print("  " + TextLayout.padded(label, to: 13) + value)
        }
        for signature in envelope.signatures {
            field("signed by", "\(SafeText.escape(signature.keyID ?? "")), as it says itself")
        }
        if envelope.signatures.isEmpty { field("signed by", "nobody") }
        field("issued", RFC3339.string(from: payload.issuedAt))
        field("expires", RFC3339.string(from: payload.expiresAt))
        for name in payload.ignoredMembers { field("ignored", "the payload's \(JSONWriter.quoted(name))") }
        PolicyInspection.print(policy, to: console, now: invocation.now)
    }

    private var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("source", file.path)
            json.member("kind", "update")
            json.member("verified", false)
            json.member("payloadType", envelope.payloadType)
            json.array("signatures") { json in
                for signature in envelope.signatures { json.object { $0.member("keyid", signature.keyID ?? "") } }
            }
            if case .number(let number) = payload.version { json.member("version", number) }
            json.member("issuedAt", RFC3339.string(from: payload.issuedAt))
            json.member("expiresAt", RFC3339.string(from: payload.expiresAt))
            if !payload.ignoredMembers.isEmpty { json.member("ignoredMembers", payload.ignoredMembers) }
            json.key("policy")
            policy.write(to: &json)
        }
        return json
    }
}
