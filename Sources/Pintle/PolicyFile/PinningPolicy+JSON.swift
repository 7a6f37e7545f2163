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

extension PinningPolicy {
    /// The policy as a file, UTF-8: what ``init(json:)`` reads as an equal policy, but for fractions of a second.
    ///
    /// One spelling for equal policies: keys in a fixed order, defaults left out, one notation for pins, dates in UTC
    /// with whole seconds, anchors as PEM text.
    public func json() -> [UInt8] {
        var json = JSONWriter(.pretty)
        write(to: &json)
        return json.bytes + [UInt8(ascii: "\n")]
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("version", Int(PolicyFileKeys.formatVersion))
            if updateVersion != 0 { $0.member("updateVersion", updateVersion) }
            if unpinnedHosts != .systemTrust { $0.member("unpinnedHosts", unpinnedHosts.rawValue) }
            if allowsUpdatesForAnyHost {
                $0.object("updates") { $0.member("anyHost", true) }
            }
            $0.array("hosts") { for host in hosts { host.write(to: &$0) } }
        }
    }
}

extension PinnedHost {
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("host", host.description)
            $0.member("port", port.map(Int.init))
            if includesSubdomains { $0.member("includeSubdomains", true) }
            if !pins.isEmpty { $0.array("pins") { for pin in pins { pin.write(to: &$0) } } }
            if !backupPins.isEmpty {
                $0.array("backupPins") { for pin in backupPins { pin.write(to: &$0) } }
            } else if backupRequirement == .noneAccepted {
                $0.member("backupPins", PolicyFileKeys.noneAccepted)
            }
            if requires != .anyPin { $0.member("requires", requires.rawValue) }
            expiry.write(to: &$0)
            if enforcement != .enforce { $0.member("enforcement", enforcement.rawValue) }
            anchors.write(to: &$0)
            $0.member("minimumPathLength", minimumPathLength)
            $0.member("issuerKey", issuerKey?.description)
            if !reportTo.isEmpty { $0.member("reportTo", reportTo) }
            $0.member("withdraws", withdrawalReason)
        }
    }
}

extension Pin {
    package func write(to json: inout JSONWriter) {
        if case .publicKey(let pin) = subject, position == .any { return json.value(pin.description) }
        json.object {
            switch subject {
            case .publicKey(let pin): $0.member("spki", pin.description)
            case .certificate(let pin): $0.member("certificate", pin.description)
            }
            if position != .any { $0.member("at", position.rawValue) }
        }
    }
}

extension PinExpiry {
    fileprivate func write(to json: inout JSONWriter) {
        guard let date else { return }
        let action: PolicyFileKeys.ExpiryAction =
            if case .rejecting = self { .reject } else { .systemTrust }
        json.object("expiry") {
            $0.member("after", RFC3339.string(from: date))
            $0.member("then", action.rawValue)
        }
    }
}

extension TrustAnchors {
    fileprivate func write(to json: inout JSONWriter) {
        if includesSystem, certificates.isEmpty { return }
        json.object("anchors") {
            if !certificates.isEmpty {
                $0.member("include", certificates.map { PEMBlock.text(label: "CERTIFICATE", bytes: $0.der) })
            }
            if includesSystem { $0.member("system", true) }
        }
    }
}
