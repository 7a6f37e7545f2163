public import Pintle

extension PinningPolicy {
    /// Parses a policy file: JSON, UTF-8 without a byte-order mark, at most 64 MiB, in the format that the article "The
    /// policy file" describes.
    ///
    /// Anchors must be in the file itself as PEM text. A path to a file is a problem, because this module reads no
    /// files: see ``init(json:resolvingFile:isPublicSuffix:)``.
    ///
    /// - Throws: all problems, with lines and columns, in the order of the file. After 1,000 problems comes one that
    ///   says that there are more. If the JSON is invalid, that is the only problem. The meaning of a rule is checked
    ///   only if everything in it, and everything outside the rules, could be read.
    public init(json: [UInt8]) throws(PolicyError) {
        try self.init(json: json, resolvingFile: nil)
    }

    /// Parses a policy file whose `anchors.include` may name files, and checks names against a public suffix list.
    ///
    /// `init(contentsOfFile:)` of the module PintleStorage provides both; public suffixes only on Linux.
    ///
    /// - Parameters:
    ///   - json: the file, as for ``init(json:)``.
    ///   - resolvingFile: returns the content of a PEM or DER file. It is called with each path exactly as the policy
    ///     has it. The caller resolves the path relative to the policy file's folder and limits the size of the file.
    ///     An error that it throws becomes the problem `unreadable-anchor-file`. `nil` refuses paths, as
    ///     ``init(json:)`` does.
    ///   - isPublicSuffix: returns whether a name is a public suffix, under which anyone can register names (`com`,
    ///     `co.uk`). The name is lower-case ASCII without a trailing dot. Private anchors for all names under a public
    ///     suffix are refused. By default, no name counts as a public suffix; single labels are always refused.
    /// - Throws: the same as ``init(json:)``.
    public init(
        json: [UInt8], resolvingFile: ((_ path: String) throws -> [UInt8])?,
        isPublicSuffix: (_ name: String) -> Bool = { _ in false }
    ) throws(PolicyError) {
        let document = try JSONDocument.policy(json)
        self = try PolicyFileReader.read(
            document.root, resolvingFile: resolvingFile, isPublicSuffix: isPublicSuffix
        ).finish()
    }

    /// Parses a policy inside another document, such as an update or a line of a batch. Paths to files are refused.
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

    /// Returns the lines and columns of many bytes of the document that contains `value`.
    package static func places(of offsets: [Int], in value: JSONValue) -> [TextPlace] {
        JSONDocument(tape: value.tape).places(at: offsets)
    }
}

extension PolicyProblem {
    /// Creates the problem of invalid JSON. It has no place in the policy, because nothing was parsed.
    init(_ error: JSONError) {
        self.init(
            id: error.code.rawValue, at: .root, line: error.line, column: error.column, message: error.message,
            help: error.hint ?? "the file must be JSON as RFC 8259 has it")
    }
}

extension PinningPolicy {
    /// Returns the policy as a UTF-8 file that ``init(json:)`` reads back as an equal policy, except for fractions of a
    /// second.
    ///
    /// Equal policies give equal bytes: keys in a fixed order, no default values, one notation for pins, dates in UTC
    /// with whole seconds, anchors as PEM text. A policy from a file keeps the notes of the file.
    public func json() -> [UInt8] {
        var json = JSONWriter(.pretty)
        write(to: &json)
        return json.bytes + [UInt8(ascii: "\n")]
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("$schema", notes.schema)
            $0.member("version", Int(PolicyFileKeys.formatVersion))
            if updateVersion != 0 { $0.member("updateVersion", updateVersion) }
            if unpinnedHosts != .systemTrust { $0.member("unpinnedHosts", unpinnedHosts.rawValue) }
            if allowsUpdatesForAnyHost {
                $0.object("updates") { $0.member("anyHost", true) }
            }
            $0.array("hosts") {
                for (index, host) in hosts.enumerated() {
                    $0.object {
                        for key in PolicyFileKeys.Rule.allCases { host.write(key, to: &$0, at: .rule(index), notes) }
                    }
                }
            }
        }
    }
}

extension Pin {
    package func write(to json: inout JSONWriter, note: String? = nil) {
        if case .publicKey(let pin) = subject, position == .any, note == nil { return json.value(pin.description) }
        json.object {
            switch subject {
            case .publicKey(let pin): $0.member("spki", pin.description)
            case .certificate(let pin): $0.member("certificate", pin.description)
            }
            if position != .any { $0.member("at", position.rawValue) }
            $0.member("note", note)
        }
    }
}
