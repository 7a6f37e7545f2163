internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL

extension TrustDecision {
    /// The facts of every verdict. Those that do not apply are absent.
    static let facts: [Fact<TrustDecision>] = [
        Fact("decision", "The verdict and its code") { $0.isTrusted ? "trusted" : "rejected" },
        Fact("reason") { $0.reason },
        Fact("matchedPin", "The pin that matched, and its distance from the leaf") { $0.match?.pin.description },
        Fact("depth") { $0.match?.depth },
        Fact("isBackup") { $0.match?.isBackup == true ? true : nil },
        Fact("pathFailure", "The code of the failure, if the path is invalid") { $0.pathFailure?.code.rawValue },
        Fact(
            "raw", "What the platform says about that failure",
            [Fact("number") { $0.platformCode }, Fact("text") { $0.text }, Fact("depth") { $0.depth }]
        ) { $0.pathFailure?.primary },
        Fact(
            "detail", "The other failures, a list",
            listing: [
                Fact("code") { $0.code.rawValue }, Fact("depth") { $0.depth }, Fact("raw") { $0.platformCode },
                Fact("text") { $0.text },
            ]
        ) { decision -> [PathFailure.Finding]? in
            decision.pathFailure.flatMap { $0.detail.isEmpty ? nil : $0.detail }
        },
    ]

    private var match: PinMatch? { if case .trusted(.pinMatched(let match)) = self { match } else { nil } }

    private var pathFailure: PathFailure? {
        if case .rejected(let rejection) = self { rejection.pathFailure } else { nil }
    }
}
