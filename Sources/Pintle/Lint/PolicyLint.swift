#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Looks for what is wrong with a policy, and for what is allowed and probably not meant.
///
/// What needs knowledge from outside, such as the list of public suffixes, is asked of closures; the answers
/// that they give by default find nothing.
package struct PolicyLint {
    package var now: Date
    /// In seconds: pins that end sooner than this are worth a warning.
    package var expiresWithin: Double = 90 * 86_400
    /// As in `PinningPolicy.init(json:resolvingFile:isPublicSuffix:)`; `nil` refuses files.
    package var resolvingFile: ((_ path: String) throws -> [UInt8])?
    /// Whether anyone may register names below this one, which is canonical.
    package var isPublicSuffix: (String) -> Bool = { _ in false }
    /// The name of the public authority whose key or certificate this is: one that signs for everybody.
    package var sharedAuthority: (Pin) -> String? = { _ in nil }

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
                findings: error.problems.map { LintFinding(severity: .error, problem: $0) }, hasMore: false, policy: nil
            )
        }
        let draft = PolicyFileReader.read(root, resolvingFile: resolvingFile, isPublicSuffix: isPublicSuffix)
        var warnings = LintWarnings(
            hosts: draft.hosts, nameless: draft.nameless, unpinnedHosts: draft.unpinnedHosts, lint: self)
        warnings.collect()

        var places = PolicyPlaces(root)
        let offsets = warnings.problems.map { places.value(at: $0.path).offset }
        let located = zip(warnings.problems, JSONDocument.places(of: offsets, in: root)).map { $0.at($1) }
        let findings =
            draft.problems.map { LintFinding(severity: .error, problem: $0) }
            + located.map { LintFinding(severity: .warning, problem: $0) }
        return LintReport(
            findings: findings.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
                .map(\.element),
            hasMore: draft.hasMoreProblems || warnings.hasMore, policy: draft.policy)
    }
}

extension LintFinding {
    fileprivate var place: JSONPlace {
        JSONPlace(line: problem.line ?? 0, column: problem.column ?? 0)
    }
}
