/// A part of a reference page under a title of its own.
package struct ReferenceSection: Sendable {
    package enum Block: Sendable {
        /// Words between backticks are code, as in every text here except `verbatim`.
        case paragraph(String)
        case list([String])
        /// Lines as they are: a command with its output, or JSON.
        case verbatim(String)
        /// Names with their meanings.
        case definitions([(name: String, meaning: String)])
        /// Names with short facts, under two headings that only the web page shows.
        case table(String, String, [(name: String, meaning: String)])
        /// Commands with their summaries.
        case commands([Command])
    }

    let title: String
    let blocks: [Block]

    package init(_ title: String, _ blocks: Block...) {
        self.init(title, blocks: blocks)
    }

    init(_ title: String, blocks: [Block]) {
        self.title = title
        self.blocks = blocks
    }

    /// The keys of a command's JSON.
    ///
    /// - Parameters:
    ///   - introduction: paragraphs above the table.
    ///   - keys: the keys without backticks, separated by a comma and a blank if they share a meaning.
    package static func json(_ introduction: String..., keys: KeyRows) -> ReferenceSection {
        let rows = keys.map { (name: MarkedText.codes($0.name), meaning: $0.meaning) }
        return ReferenceSection("JSON", blocks: introduction.map { .paragraph($0) } + [.table("Key", "Value", rows)])
    }
}

/// An article of the documentation that a reference page names.
package struct Article: Sendable {
    /// The module whose catalogue it is in.
    let module: String
    /// The name of its file, without `.md`.
    let name: String
    /// Its first line.
    let title: String
}

extension Article {
    package static let android = Article(module: "PintleTools", name: "Android", title: "Android")
    package static let choosingPins = Article(
        module: "Pintle", name: "ChoosingPins", title: "Finding and choosing pins")
    package static let continuousIntegration = Article(
        module: "PintleTools", name: "ContinuousIntegration", title: "Continuous integration")
    package static let decisions = Article(module: "Pintle", name: "Decisions", title: "How a decision is made")
    package static let exports = Article(module: "PintleTools", name: "Exports", title: "Exports")
    package static let planningRotations = Article(
        module: "PintleTools", name: "PlanningRotations", title: "Planning a rotation")
    package static let policyFile = Article(module: "Pintle", name: "PolicyFile", title: "The policy file")
    package static let policyProblems = Article(module: "Pintle", name: "PolicyProblems", title: "Problems of a policy")
    package static let publicAuthorities = Article(
        module: "PintleTools", name: "PublicAuthorities", title: "Behind a CDN or a public authority")
    package static let rehearsing = Article(module: "PintleTools", name: "Rehearsing", title: "Rehearsing attacks")
    package static let reports = Article(module: "PintleReports", name: "Reports", title: "Failure reports")
    package static let signedUpdates = Article(module: "PintleUpdates", name: "SignedUpdates", title: "Signed updates")
    package static let testingOnADevice = Article(
        module: "PintleApple", name: "TestingOnADevice", title: "Testing on a device")
    package static let unpinned = Article(
        module: "PintleTools", name: "Unpinned", title: "Which connections are unpinned")
    package static let userDecisions = Article(
        module: "PintleStorage", name: "UserDecisions", title: "Unknown servers and user decisions")

    /// Every article that a page may name.
    static let all: [Article] = [
        android, choosingPins, continuousIntegration, decisions, exports, planningRotations, policyFile, policyProblems,
        publicAuthorities, rehearsing, reports, signedUpdates, testingOnADevice, unpinned,
        userDecisions,
    ]
}
