/// An article of the documentation that a reference page names.
struct Article: Sendable {
    /// The name of its file, without `.md`.
    let name: String
    /// Its first line.
    let title: String
}

extension Article {
    static let android = Article(name: "Android", title: "Android")
    static let choosingPins = Article(name: "ChoosingPins", title: "Finding and choosing pins")
    static let continuousIntegration = Article(name: "ContinuousIntegration", title: "Continuous integration")
    static let decisions = Article(name: "Decisions", title: "How a decision is made")
    static let exports = Article(name: "Exports", title: "Exports")
    static let planningRotations = Article(name: "PlanningRotations", title: "Planning a rotation")
    static let policyFile = Article(name: "PolicyFile", title: "The policy file")
    static let policyProblems = Article(name: "PolicyProblems", title: "Problems of a policy")
    static let rehearsing = Article(name: "Rehearsing", title: "Rehearsing attacks")
    static let reports = Article(name: "Reports", title: "Failure reports")
    static let signedUpdates = Article(name: "SignedUpdates", title: "Signed updates")
    static let testingOnADevice = Article(name: "TestingOnADevice", title: "Testing on a device")
    static let userDecisions = Article(name: "UserDecisions", title: "Unknown servers and user decisions")

    /// Every article that a page may name.
    static let all: [Article] = [
        android, choosingPins, continuousIntegration, decisions, exports, planningRotations, policyFile, policyProblems,
        rehearsing, reports, signedUpdates, testingOnADevice, userDecisions,
    ]
}
