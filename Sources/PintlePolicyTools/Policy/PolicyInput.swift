package import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleStorage
internal import PintleSystem
internal import PintleText

/// A policy file and the files that it names.
package struct PolicyInput {
    /// The largest policy that is read, and a little more, so that the policy's reader reports the limit.
    private static let maximumSize = (64 << 20) + 1

    package var file: InputFile
    private let invocation: Invocation

    /// Reads a policy.
    ///
    /// - Throws: an error that names the content if the file holds certificates or keys. The policy's reader reports
    ///   other mistakes, because it knows their lines.
    package init(_ path: String, _ invocation: Invocation) throws(ToolError) {
        try self.init(ofAnyKind: path, invocation)
        guard !isDocument, let kind = FileKind(of: file.bytes) else { return }
        throw kind == .keys ? noPolicy() : kind.refusal(of: file, code: "no-policy", wanted: "a policy")
    }

    /// The error for a document that is no policy; `nil` if it is meant to be one. Only asked after a failure, because
    /// it reads the file again.
    var otherKind: ToolError? {
        guard let kind = FileKind(of: file.bytes), kind != .policy else { return nil }
        return kind.refusal(of: file, code: "no-policy", wanted: "a policy")
    }

    /// Reads a file that may hold something else than a policy.
    init(ofAnyKind path: String, _ invocation: Invocation) throws(ToolError) {
        file = try InputFile(path, limit: Self.maximumSize, standardInput: invocation.input)
        self.invocation = invocation
    }

    /// A Boolean value that indicates whether the file begins like a JSON document. The policy's reader reports a
    /// byte-order mark.
    var isDocument: Bool {
        let first = file.bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
            || file.bytes.starts(with: [0xEF, 0xBB, 0xBF, 0x7B])
    }

    /// Returns the error for a file of certificates or keys, which names the command that reads it.
    private mutating func noPolicy() -> ToolError {
        let name = ShellWord.quoted(file.path)
        let items: [SourceItem]
        do throws(ToolError) {
            items = try SourceReader.items(in: &file, invocation.libraries)
        } catch {
            return .unusable("no-policy", "not a policy: \(error.message)", file: file.name, hint: error.hint)
        }
        let kinds = ["certificate", "request", "private key", "public key"]
        let content = kinds.compactMap { kind in
            let count = items.count { $0.kind == kind }
            return count > 0 ? ValidityText.counted(count, kind) : nil
        }
        let hasCertificate = items.contains { $0.certificate != nil }
        return .unusable(
            "no-policy", "not a policy: the file holds \(content.joined(separator: " and "))", file: file.name,
            hint: "pintle inspect \(name) shows it; "
                + (hasCertificate
                    ? "a policy that pins it: pintle pin \(name) --as policy" : "its pin: pintle pin \(name)"))
    }

    /// - Throws: every problem, each with its place.
    package func policy() throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(file.bytes, ofFile: file.path, invocation)
        } catch {
            throw otherKind ?? ToolError(error, file: file.name)
        }
    }

    /// Returns a lint that knows the files beside the policy, the public suffixes and the public authorities.
    ///
    /// - Parameter authority: names the public authority with a key or certificate.
    func lint(
        _ families: AuthorityFamilies, _ authority: @escaping @Sendable (Pin) -> String?, at now: Date
    ) -> PolicyLint {
        var lint = PolicyLint(at: now)
        lint.families = families
        let folder = PolicyFolder(ofFile: file.path)
        lint.resolvingFile = { path in try folder.content(of: path) }
        lint.isPublicSuffix = invocation.isPublicSuffix
        lint.sharedAuthority = authority
        return lint
    }
}

extension SourceItem {
    fileprivate var kind: String {
        switch self {
        case .certificate, .unfit: "certificate"
        case .request: "request"
        case .key(_, let isPrivate): isPrivate ? "private key" : "public key"
        }
    }
}

extension ToolError {
    /// Joins all problems of a policy.
    package init(_ error: PolicyError, file: String) {
        let errors = error.problems.map { problem in
            ToolError.unusable(
                problem.id, problem.path.isEmpty ? problem.message : "\(problem.path): \(problem.message)", file: file,
                line: problem.line, column: problem.column, hint: problem.help)
        }
        self = .joining(errors) ?? .unusable("invalid-policy", "the policy cannot be used", file: file)
    }
}

extension PinningPolicy {
    /// Reads a policy with the anchors that it names.
    ///
    /// - Parameter path: the policy's file; the paths of its anchors are relative to its folder.
    package init(_ bytes: [UInt8], ofFile path: String, _ invocation: Invocation) throws(PolicyError) {
        let folder = PolicyFolder(ofFile: path)
        try self.init(
            json: bytes, resolvingFile: { name throws(FileError) in try folder.content(of: name) },
            isPublicSuffix: invocation.isPublicSuffix)
    }

    /// Returns a policy without rules: only the path decides.
    package static func withoutRules() throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(hosts: [])
        } catch {
            throw ToolError(error, file: "policy")
        }
    }
}
