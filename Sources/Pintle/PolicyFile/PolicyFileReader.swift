#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A parser of policy files that continues after a mistake, so that it can report all of them at once.
package struct PolicyFileReader {
    let resolvingFile: ((String) throws -> [UInt8])?
    var draft = PolicyDraft()
    var problems: [(offset: Int, problem: PolicyProblem)] = []
    /// The result of each `anchors` object by its source text, so that rules with the same anchors share one set.
    var anchorSets: [ArraySlice<UInt8>: TrustAnchors] = [:]

    package static func read(
        _ root: JSONValue, resolvingFile: ((String) throws -> [UInt8])?, isPublicSuffix: (String) -> Bool
    ) -> PolicyDraft {
        var reader = PolicyFileReader(resolvingFile: resolvingFile)
        reader.readPolicy(root, isPublicSuffix)
        reader.draft.complete(reader.problems, in: root)
        return reader.draft
    }

    /// A Boolean value that indicates whether the limit on problems is exceeded. Parsing then stops, because a file of
    /// 64 MiB can hold millions of mistakes.
    var isFull: Bool { problems.count > PolicyError.maximumProblems }

    private mutating func readPolicy(_ root: JSONValue, _ isPublicSuffix: (String) -> Bool) {
        guard let members = members(of: root, as: PolicyFileKeys.Policy.self, at: .root) else { return }
        draft.notes.schema = members[.schema].flatMap { string($0, at: .member("$schema")) }
        readVersion(members[.version], of: root)
        if let value = members[.updateVersion] {
            let range = 0...PolicyFileKeys.maximumUpdateVersion
            draft.updateVersion = Int(
                integer(value, in: range, id: "invalid-update-version", at: .member("updateVersion")) ?? 0)
        }
        if let value = members[.unpinnedHosts] {
            draft.unpinnedHosts = choice(value, at: .member("unpinnedHosts")) ?? .systemTrust
        }
        if let value = members[.updates],
            let updates = self.members(of: value, as: PolicyFileKeys.Updates.self, at: .member("updates"))
        {
            draft.allowsUpdatesForAnyHost =
                updates[.anyHost].flatMap { boolean($0, at: .member("updates")["anyHost"]) } ?? false
        }
        guard let hosts = required(.hosts, of: members, in: root, at: .root, help: "write \"hosts\": [] for none")
        else {
            return
        }
        draft.hosts.reserveCapacity(hosts.count)
        guard let list = elements(of: hosts, at: .member("hosts")) else { return }
        for (index, host) in list.enumerated() where !isFull {
            readHost(host, number: index, isPublicSuffix)
        }
    }

    private mutating func readVersion(_ value: JSONValue?, of root: JSONValue) {
        guard let value else {
            return report(
                "missing-key", root, .member("version"), "the policy has no \"version\"", help: "add \"version\": 1")
        }
        guard let version = integer(value, in: nil, id: "unsupported-version", at: .member("version")) else { return }
        guard version == PolicyFileKeys.formatVersion else {
            let help = "write 1, or use a later release of this program"
            return report(
                "unsupported-version", value, .member("version"), "version \(version) of the format is unknown",
                help: help)
        }
    }

    private mutating func readHost(_ value: JSONValue, number: Int, _ isPublicSuffix: (String) -> Bool) {
        // Built lazily: only messages about mistakes need the path.
        var path: PolicyPath { .rule(number) }
        let members = members(of: value, as: PolicyFileKeys.Host.self, at: path) ?? [:]
        let name = value.kind == .object ? readName(members, of: value, path) : nil
        if let note = members[.note] { readNote(note, about: path) }
        let includesSubdomains =
            members[.includeSubdomains].flatMap { boolean($0, at: path["includeSubdomains"]) } ?? false
        let port = members[.port].flatMap { integer($0, in: 1...65_535, id: "invalid-port", at: path["port"]) }
        let pins = members[.pins].map { readPins($0, at: path["pins"]) } ?? []
        let (backupPins, backupRequirement) = readBackupPins(members[.backupPins], at: path["backupPins"])
        let requires: PinRequirement? = members[.requires].flatMap { choice($0, at: path["requires"]) }
        let enforcement: Enforcement? = members[.enforcement].flatMap { choice($0, at: path["enforcement"]) }
        let expiry = members[.expiry].map { readExpiry($0, at: path["expiry"]) } ?? .never
        let anchors = members[.anchors].map { readAnchors($0, at: path["anchors"]) } ?? .system
        let reportTo = members[.reportTo].map { readReportTo($0, at: path["reportTo"]) } ?? []
        let withdrawalReason = members[.withdraws].flatMap { readWithdrawal($0, at: path["withdraws"]) }
        let pathTerms = PathTerms(
            minimumLength: members[.minimumPathLength].flatMap { readLength($0, at: path["minimumPathLength"]) },
            issuerKey: members[.issuerKey].map { readKey($0, at: path["issuerKey"]) })

        if let name, let list = members[.anchors], includesSubdomains, !anchors.certificates.isEmpty,
            name.labels.count > 1, isPublicSuffix(name.description)
        {
            report(
                "anchors-too-broad", list, path["anchors"],
                "private anchors for every host under \"\(name)\", where anyone may register",
                help: "name the hosts that the private root signs for")
        }
        guard let name else { return draft.hosts.append(PolicyDraft.placeholder(number)) }
        draft.hosts.append(
            PinnedHost(
                unchecked: name, port: port.flatMap { UInt16(exactly: $0) }, includesSubdomains: includesSubdomains,
                terms: HostTerms(
                    pins: pins, backupPins: backupPins, backupRequirement: backupRequirement,
                    requires: requires ?? .anyPin, expiry: expiry, enforcement: enforcement ?? .enforce,
                    anchors: anchors, reportTo: reportTo, withdrawalReason: withdrawalReason, path: pathTerms)))
    }

    private mutating func readName(
        _ members: [PolicyFileKeys.Host: JSONValue], of rule: JSONValue, _ path: @autoclosure () -> PolicyPath
    ) -> ServerName? {
        let help = "add \"host\": \"api.example.com\""
        guard let value = required(.host, of: members, in: rule, at: path(), help: help) else { return nil }
        guard let text = value.stringBytes else {
            reportType(of: value, "a string in double quotes", at: path()["host"])
            return nil
        }
        do throws(ServerNameError) {
            return try ServerName(utf8: text)
        } catch {
            report(PolicyProblem(error, at: path()["host"]), value)
            return nil
        }
    }

    /// Parses the note of a rule or a pin.
    mutating func readNote(_ value: JSONValue, about place: PolicyPath) {
        guard let text = string(value, at: place["note"]) else { return }
        if let problem = PolicyNotes.problem(of: text) {
            return report("invalid-note", value, place["note"], problem, help: "write one short line")
        }
        draft.notes[place] = text
    }

    private mutating func readExpiry(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> PinExpiry {
        guard let members = members(of: value, as: PolicyFileKeys.Expiry.self, at: path()) else { return .never }
        let after = required(
            .after, of: members, in: value, at: path(), help: "add \"after\": \"2027-11-20T00:00:00Z\""
        ).flatMap { date($0, at: path()["after"]) }
        let action: PolicyFileKeys.ExpiryAction? = required(
            .then, of: members, in: value, at: path(), help: "add \"then\": \"systemTrust\", or \"reject\""
        ).flatMap { choice($0, at: path()["then"]) }
        guard let after, let action else { return .never }
        return switch action {
        case .systemTrust: .systemTrust(after: after)
        case .reject: .rejecting(after: after)
        }
    }

    private mutating func readLength(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> Int? {
        let range = Int64(PathTerms.lengths.lowerBound)...Int64(PathTerms.lengths.upperBound)
        return integer(value, in: range, id: "invalid-path-length", at: path()).map(Int.init)
    }

    private mutating func readReportTo(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> [String] {
        guard let list = elements(of: value, at: path()) else { return [] }
        var urls: [String] = []
        for (index, element) in list.enumerated() where !isFull {
            // Insert a placeholder to keep the indices: the check of the whole policy reports problems by index.
            urls.append(string(element, at: path()[index]) ?? "https://unread.invalid/")
        }
        return urls
    }

    private mutating func readWithdrawal(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> String? {
        guard let reason = string(value, at: path()) else { return nil }
        guard reason.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            report("empty-reason", value, path(), "the pins are withdrawn without a reason", help: "say why")
            return nil
        }
        return reason
    }
}

extension PolicyFileReader {
    mutating func readAnchors(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> TrustAnchors {
        if let known = anchorSets[value.source] { return known }
        let path = path()
        let count = problems.count
        guard let members = members(of: value, as: PolicyFileKeys.Anchors.self, at: path) else { return .system }
        let system = members[.system].flatMap { boolean($0, at: path["system"]) } ?? false
        var certificates: [Certificate] = []
        if let include = members[.include], let list = elements(of: include, at: path["include"]) {
            for (index, element) in list.enumerated() where !isFull {
                certificates += readCertificates(element, at: path["include"][index])
            }
        }
        // The anchors were already reported as broken. Do not also report them as empty.
        guard problems.count == count else { return .system }
        let anchors = TrustAnchors(certificates, includesSystem: system)
        anchorSets[value.source] = anchors
        return anchors
    }

    private mutating func readCertificates(_ value: JSONValue, at path: PolicyPath) -> [Certificate] {
        guard let text = string(value, at: path) else { return [] }
        if text.hasPrefix("-----BEGIN") { return certificates(Array(text.utf8), of: "the inline PEM", value, path) }
        guard let resolvingFile else {
            report(
                "anchor-file-not-allowed", value, path, "the anchor file \(quoted(value)) cannot be read from here",
                help: "put the certificate itself in: its PEM text, line breaks as \\n")
            return []
        }
        let bytes: [UInt8]
        do {
            bytes = try resolvingFile(text)
        } catch {
            report(
                "unreadable-anchor-file", value, path, "cannot read the anchor file \(quoted(value)): \(error)",
                help: "paths are relative to the policy file")
            return []
        }
        return certificates(bytes, of: "\(quoted(value))", value, path)
    }

    private mutating func certificates(
        _ bytes: [UInt8], of source: String, _ value: JSONValue, _ path: PolicyPath
    ) -> [Certificate] {
        do throws(CertificateBundleError) {
            return try CertificateBundle(bytes).certificates
        } catch {
            for problem in error.problems where !isFull {
                let id = problem == .nothing ? "no-anchor" : "invalid-anchor"
                report(id, value, path, "\(source): \(problem)", help: problem.help)
            }
            return []
        }
    }
}
