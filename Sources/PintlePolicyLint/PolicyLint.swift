package import Pintle
internal import PintlePolicyFile
package import PintleSystem

/// A search for errors in a policy, and for allowed values that are probably mistakes.
///
/// Closures answer questions that need knowledge from outside, such as the list of public suffixes. The default answers
/// find nothing.
package struct PolicyLint {
    package var now: Date
    /// The time in seconds; pins that end sooner get a warning.
    package var expiresWithin: Double = 90 * 86_400
    /// The resolver of files, as in `PinningPolicy.init(json:resolvingFile:isPublicSuffix:)`; `nil` refuses files.
    package var resolvingFile: ((_ path: String) throws -> [UInt8])?
    /// Returns whether anyone may register names below this one, which is canonical.
    package var isPublicSuffix: (String) -> Bool = { _ in false }
    /// Returns the name of the public authority whose key or certificate this is: one that signs for everyone.
    package var sharedAuthority: (Pin) -> String? = { _ in nil }
    /// The pins of the app's Info.plists.
    package var infoPlists: [InfoPlistPins] = []
    /// The families of public authorities.
    package var families: AuthorityFamilies?

    package init(at now: Date) {
        self.now = now
    }

    /// Lints a policy file.
    package func report(on json: [UInt8]) -> LintReport {
        let root: JSONValue
        do throws(PolicyError) {
            root = try JSONDocument.policy(json).root
        } catch {
            return LintReport(
                findings: error.problems.map { LintProblem(severity: .error, problem: $0) }, hasMore: false,
                hosts: [], policy: nil)
        }
        let draft = PolicyFileReader.read(root, resolvingFile: resolvingFile, isPublicSuffix: isPublicSuffix)
        var warnings = LintWarnings(draft, lint: self)
        if !draft.isMisread { warnings.collect() }
        if let policy = draft.policy { for file in infoPlists { warnings.lookAtInfoPlist(file, policy) } }

        var places = PolicyPlaces(root)
        let offsets = warnings.problems.map { places.value(at: $0.place).offset }
        let located = zip(warnings.problems, JSONDocument.places(of: offsets, in: root)).map { $0.at($1) }
        func finding(_ severity: LintProblem.Severity, _ problem: PolicyProblem) -> LintProblem {
            LintProblem(severity: severity, problem: problem, note: draft.notes.nearest(to: problem.place))
        }
        let findings = draft.problems.map { finding(.error, $0) } + located.map { finding(.warning, $0) }
        return LintReport(
            findings: findings.inFileOrder, hasMore: draft.hasMoreProblems || warnings.hasMore, hosts: draft.hosts,
            policy: draft.policy)
    }
}

/// A problem that lint found in a policy, or at a live server that the policy is about.
package struct LintProblem: Sendable, Hashable {
    package enum Severity: String, Sendable, Hashable {
        /// The policy cannot be used.
        case error
        /// The policy can be used, and its author should look at it again.
        case warning
    }

    package let severity: Severity
    /// The id, path, place, message and remedy. The article PolicyProblems explains each id.
    package let problem: PolicyProblem
    /// The note about the pin or rule.
    package let note: String?
    /// The server that showed it; `nil` for a problem of the file.
    package let server: String?

    package init(severity: Severity, problem: PolicyProblem, note: String? = nil, server: String? = nil) {
        self.severity = severity
        self.problem = problem
        self.note = note
        self.server = server
    }
}

extension [LintProblem] {
    /// The problems by their place in the file. Those without a place come first.
    package var inFileOrder: [LintProblem] {
        func place(_ index: Int) -> (Int, Int, Int) {
            (self[index].problem.line ?? 0, self[index].problem.column ?? 0, index)
        }
        return indices.sorted { place($0) < place($1) }.map { self[$0] }
    }
}

/// All findings about a policy, in the order of the file.
package struct LintReport: Sendable {
    /// At most 1,000 errors and 1,000 warnings.
    package let findings: [LintProblem]
    /// A Boolean value that indicates whether there are more than `findings` holds.
    package let hasMore: Bool
    /// All rules, in the order of the file. A placeholder stands for each rule that could not be read.
    package let hosts: [PinnedHost]
    /// The policy, unless there are errors.
    package let policy: PinningPolicy?
}
