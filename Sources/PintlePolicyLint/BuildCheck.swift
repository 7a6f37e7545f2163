internal import Pintle
internal import PintlePolicyFile
internal import PintleStorage
package import PintleSystem
internal import PintleText

/// The answer of the plug-in PintlePolicyCheck to a build: the problems of a policy file, or its Swift source.
package struct BuildCheck {
    /// The lines for the build, in the form of compilers: `FILE:LINE:COLUMN: error: MESSAGE`.
    package let lines: [String]
    /// The Swift source of the policy; `nil` if there are errors.
    package let source: String?

    /// Checks a policy file.
    ///
    /// - Parameters:
    ///   - path: the file. Paths of anchors are relative to its folder.
    ///   - watched: the paths of the files that the policy may name, because the build runs the check again when one
    ///     of them changes. Another one could be replaced, and the app would go on with the old anchor.
    ///   - now: the day of the build. Findings that depend on it are warnings.
    ///   - isStrict: `true` to make all warnings errors.
    package init(policyFile path: String, watched: [String], at now: Date, isStrict: Bool) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try RegularFile.content(path, limit: JSONDocument.Limits().maximumBytes)
        } catch {
            lines = ["\(SafeText.escape(path)): error: \(error.id): \(SafeText.escape("\(error)"))"]
            source = nil
            return
        }
        var lint = PolicyLint(at: now)
        lint.expiresWithin = Self.expiresWithin
        let folder = PolicyFolder(ofFile: path)
        lint.resolvingFile = { name in
            guard watched.contains(folder.path(of: name)) else { throw Unwatched() }
            return try folder.content(of: name)
        }
        lint.isPublicSuffix = PinningPolicy.isPublicSuffix
        do throws(ValueProblems) {
            lint.families = try FamilyFileReader.builtIn()
        } catch {
            lines = error.all.map { "error: \($0.file ?? ""): \($0.message)" }
            source = nil
            return
        }
        let report = lint.report(on: bytes)
        var lines: [String] = []
        var hasErrors = report.policy == nil
        for finding in report.findings {
            let isError = isStrict || finding.severity == .error || Self.errors.contains(finding.problem.id)
            hasErrors = hasErrors || isError
            lines.append(Self.line(finding.problem, isError: isError, in: path))
        }
        if report.hasMore {
            hasErrors = true
            lines.append("\(SafeText.escape(path)): error: there are more problems than are listed")
        }
        self.lines = lines
        let name = path.split(separator: "/").last.map(String.init) ?? path
        source = hasErrors ? nil : report.policy.map { SwiftPolicySource($0).file(madeFrom: name) }
    }

    private struct Unwatched: Error, CustomStringConvertible {
        let description =
            "not a file of this target; add it to the target as *.pem, *.cer, *.crt or *.der, and write its path from "
            + "the policy's folder without ./"
    }

    /// The time in seconds; pins that end sooner get a warning.
    private static let expiresWithin: Double = 30 * 86_400

    /// The warnings of lint that end a build: pins without a key, and rules that protect nothing or match
    /// nothing. They do not depend on the day, so a version that was built once can always be built again.
    private static let errors: Set<String> = [
        "nothing-pinned", "placeholder-pin", "underscore-in-host", "issuer-key-of-leaf", "rule-without-effect",
    ]

    private static func line(_ problem: PolicyProblem, isError: Bool, in path: String) -> String {
        let place = problem.line.map { ":\($0):\(problem.column ?? 1)" } ?? ""
        let text = "\(problem.path.isEmpty ? "" : "\(problem.path): ")\(problem.message); \(problem.help)"
        let kind = isError ? "error" : "warning"
        return "\(SafeText.escape(path))\(place): \(kind): \(SafeText.escape(text)) [\(problem.id)]"
    }
}
