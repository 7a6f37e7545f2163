internal import Pintle
internal import PintleOpenSSL

extension JSONWriter {
    /// Writes `decision`, `reason`, `pathFailure`, `raw`, `detail`, `matchedPin`, `depth`: the members of every
    /// verdict. Those that do not apply are absent.
    mutating func write(_ decision: TrustDecision) {
        member("decision", decision.isTrusted ? "trusted" : "rejected")
        member("reason", decision.reason)
        switch decision {
        case .trusted(.pinMatched(let match)):
            member("matchedPin", match.pin.description)
            member("depth", match.depth)
            member("isBackup", match.isBackup ? true : nil)
        case .rejected(let rejection):
            if let failure = rejection.pathFailure { write(failure) }
        default: break
        }
    }

    private mutating func write(_ failure: PathFailure) {
        member("pathFailure", failure.code.rawValue)
        object("raw") { json in
            json.member("number", failure.primary.platformCode)
            json.member("text", failure.primary.text)
            json.member("depth", failure.primary.depth)
        }
        guard !failure.detail.isEmpty else { return }
        objects("detail", failure.detail) { json, finding in
            json.member("code", finding.code.rawValue)
            json.member("depth", finding.depth)
            json.member("raw", finding.platformCode)
            json.member("text", finding.text)
        }
    }
}
