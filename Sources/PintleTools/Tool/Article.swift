/// An article of the documentation that a reference page names.
struct Article: Sendable {
    /// The module whose catalogue it is in.
    let module: String
    /// The name of its file, without `.md`.
    let name: String
    /// Its first line.
    let title: String
}

extension Article {
    static let android = Article(module: "PintleTools", name: "Android", title: "Android")
    static let choosingPins = Article(module: "Pintle", name: "ChoosingPins", title: "Finding and choosing pins")
    static let continuousIntegration = Article(
        module: "PintleTools", name: "ContinuousIntegration", title: "Continuous integration")
    static let decisions = Article(module: "Pintle", name: "Decisions", title: "How a decision is made")
    static let exports = Article(module: "PintleTools", name: "Exports", title: "Exports")
    static let planningRotations = Article(
        module: "PintleTools", name: "PlanningRotations", title: "Planning a rotation")
    static let policyFile = Article(module: "Pintle", name: "PolicyFile", title: "The policy file")
    static let policyProblems = Article(module: "Pintle", name: "PolicyProblems", title: "Problems of a policy")
    static let rehearsing = Article(module: "PintleTools", name: "Rehearsing", title: "Rehearsing attacks")
    static let reports = Article(module: "PintleReports", name: "Reports", title: "Failure reports")
    static let signedUpdates = Article(module: "PintleUpdates", name: "SignedUpdates", title: "Signed updates")
    static let testingOnADevice = Article(module: "PintleApple", name: "TestingOnADevice", title: "Testing on a device")
    static let userDecisions = Article(
        module: "PintleStorage", name: "UserDecisions", title: "Unknown servers and user decisions")

    /// Every article that a page may name.
    static let all: [Article] = [
        android, choosingPins, continuousIntegration, decisions, exports, planningRotations, policyFile, policyProblems,
        rehearsing, reports, signedUpdates, testingOnADevice, userDecisions,
    ]
}
