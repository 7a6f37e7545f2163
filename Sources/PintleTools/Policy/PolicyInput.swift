internal import FoundationEssentials
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

/// A rule of a policy in words.
enum RuleText {
    /// `enforced; pins expire 2027-11-20, then system trust`
    static func terms(of host: PinnedHost, now: Date) -> String {
        guard !host.pins.isEmpty else { return "nothing pinned; the path alone decides" }
        return [enforcement(of: host), expiry(host.expiry, now: now)].compactMap(\.self).joined(separator: "; ")
    }

    /// `example.com, exact`; `example.com, which covers sub-domains`
    static func match(_ choice: MatchedRule) -> String {
        "\(choice.pattern), " + (choice.isExact ? "exact" : "which covers its sub-domains")
    }

    /// `3 certificates or more, leaf and anchor counted`
    static func length(_ length: Int) -> String {
        ValidityText.counted(length, "certificate") + " or more, leaf and anchor counted"
    }

    static func enforcement(of host: PinnedHost) -> String {
        switch host.enforcement {
        case .enforce: "enforced"
        case .reportOnly: "reported only"
        }
    }

    private static func expiry(_ expiry: PinExpiry, now: Date) -> String? {
        guard let date = expiry.date else { return nil }
        let verb = now < date ? "pins expire" : "pins expired"
        let then = if case .rejecting = expiry { "then everything is refused" } else { "then system trust" }
        return "\(verb) \(ValidityText.day(date)), \(then)"
    }

    /// Returns the pin with its position, if it has one.
    static func pin(_ pin: Pin) -> String {
        let kind = if case .certificate = pin.subject { "certificate " } else { "" }
        let position = pin.position == .any ? "" : "  at \(pin.position.rawValue)"
        return kind + pin.description + position
    }
}
