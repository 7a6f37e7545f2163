internal import Pintle
internal import PintleOpenSSL
internal import PintleStorage

/// A policy file and the files that it names.
struct PolicyInput {
    /// The largest policy that is read, and a little more, so that the policy's reader reports the limit.
    private static let maximumSize = (64 << 20) + 1

    var file: InputFile

    init(_ path: String, _ invocation: Invocation) throws(ToolError) {
        file = try InputFile(path, limit: Self.maximumSize, standardInput: invocation.input)
    }

    /// - Throws: every problem, each with its place.
    func policy() throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(
                json: file.bytes, resolvingFile: anchorFile, isPublicSuffix: PublicSuffixList.contains)
        } catch {
            throw ToolError(error, file: file.name)
        }
    }

    /// Returns the content of a file that `anchors.include` names, relative to the policy's folder.
    func anchorFile(_ path: String) throws(FileError) -> [UInt8] {
        try PolicyFolder(ofFile: file.path).content(of: path)
    }
}

extension ToolError {
    /// Joins all problems of a policy.
    init(_ error: PolicyError, file: String) {
        let errors = error.problems.map { problem in
            ToolError.unusable(
                problem.id, problem.path.isEmpty ? problem.message : "\(problem.path): \(problem.message)", file: file,
                line: problem.line, column: problem.column, hint: problem.help)
        }
        self = .joining(errors) ?? .unusable("invalid-policy", "the policy cannot be used", file: file)
    }
}

extension PinningPolicy {
    /// Returns a policy without rules: only the path decides.
    static func withoutRules() throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(hosts: [])
        } catch {
            throw ToolError(error, file: "policy")
        }
    }
}
