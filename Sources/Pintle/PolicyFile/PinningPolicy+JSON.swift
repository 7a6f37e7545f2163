extension PinningPolicy {
    /// Reads a policy file: JSON, UTF-8 without a byte-order mark, at most 64 MiB, in the format that the article
    /// "The policy file" describes.
    ///
    /// Anchors must stand in the file themselves, as PEM text; a path to a file is a problem, because the core reads
    /// none: see ``init(json:resolvingFile:isPublicSuffix:)``.
    ///
    /// - Throws: everything that is wrong, with lines and columns, in the order of the file; at most 1,000 problems
    ///   and then one that says so. Where the JSON itself is broken that is the only problem.
    public init(json: [UInt8]) throws(PolicyError) {
        try self.init(json: json, resolvingFile: nil)
    }

    /// Reads a policy file whose `anchors.include` may name files, with knowledge that the core does not have.
    ///
    /// On Linux the module PintleOpenSSL has `init(contentsOfFile:)`, which brings both.
    ///
    /// - Parameters:
    ///   - json: the file, as for ``init(json:)``.
    ///   - resolvingFile: answers the content of a file, PEM or DER. Called with each path as it stands in the policy;
    ///     the caller resolves it against the policy file's folder and bounds its size. What it throws becomes the
    ///     problem `unreadable-anchor-file`. `nil` refuses paths, as ``init(json:)`` does.
    ///   - isPublicSuffix: whether registries hand out names directly under this one (`com`, `co.uk`): lower case
    ///     ASCII without a trailing dot. Private anchors for everything under such a name are refused. By default no
    ///     name is known to be one; single labels are refused without asking.
    /// - Throws: as ``init(json:)``.
    public init(
        json: [UInt8], resolvingFile: ((_ path: String) throws -> [UInt8])?,
        isPublicSuffix: (_ name: String) -> Bool = { _ in false }
    ) throws(PolicyError) {
        let document = try JSONDocument.policy(json)
        self = try PolicyFileReader.read(
            document.root, resolvingFile: resolvingFile, isPublicSuffix: isPublicSuffix
        ).finish()
    }

    /// A policy that stands inside another document: in an update, in a line of a batch. Paths to files are refused.
    package init(
        json value: JSONValue, isPublicSuffix: (String) -> Bool = { _ in false }
    ) throws(PolicyError) {
        self = try PolicyFileReader.read(value, resolvingFile: nil, isPublicSuffix: isPublicSuffix).finish()
    }
}

extension JSONDocument {
    package static func policy(_ bytes: [UInt8]) throws(PolicyError) -> JSONDocument {
        do throws(JSONError) {
            return try JSONDocument(bytes)
        } catch {
            throw PolicyError([PolicyProblem(error)])
        }
    }

    /// The places of many bytes of the document that `value` stands in.
    package static func places(of offsets: [Int], in value: JSONValue) -> [JSONPlace] {
        JSONDocument(tape: value.tape).places(at: offsets)
    }
}

extension PolicyProblem {
    /// Broken JSON has no path: nothing in it can be named yet.
    init(_ error: JSONError) {
        self.init(
            id: error.code.rawValue, at: .root, line: error.line, column: error.column, message: error.message,
            help: error.hint ?? "the file must be JSON as RFC 8259 has it")
    }
}
