internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A parser of policy files that continues after a mistake, so that it can report all of them at once.
package struct PolicyFileReader: ObjectReader {
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
    package var isFull: Bool { problems.count > PolicyError.maximumProblems }

    private mutating func readPolicy(_ root: JSONValue, _ isPublicSuffix: (String) -> Bool) {
        guard let members = members(of: root, as: PolicyFileKeys.Policy.self, .root) else { return }
        draft.notes.schema = members[.schema].flatMap { string($0, .member("$schema")) }
        readVersion(members[.version], of: root)
        if let value = members[.updateVersion] {
            draft.updateVersion = Int(
                integer(
                    value, in: PinningPolicy.updateVersions, id: "invalid-update-version", at: .member("updateVersion"))
                    ?? 0)
        }
        if let value = members[.unpinnedHosts] {
            draft.unpinnedHosts = choice(value, .member("unpinnedHosts")) ?? .systemTrust
        }
        if let value = members[.updates],
            let updates = self.members(of: value, as: PolicyFileKeys.Updates.self, .member("updates"))
        {
            draft.allowsUpdatesForAnyHost =
                updates[.anyHost].flatMap { boolean($0, .member("updates")["anyHost"]) } ?? false
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
        let members = members(of: value, as: PolicyFileKeys.Rule.self, path) ?? [:]
        let name = value.kind == .object ? readName(members, of: value, path) : nil
        var rule = name.map { PinnedHost(unchecked: $0) } ?? PolicyDraft.placeholder(number)
        for key in PolicyFileKeys.Rule.allCases {
            if let member = members[key] { read(key, member, into: &rule, number: number) }
        }
        if let name, let list = members[.anchors], rule.includesSubdomains, !rule.anchors.certificates.isEmpty,
            name.labels.count > 1, isPublicSuffix(name.description)
        {
            report(
                "anchors-too-broad", list, path["anchors"],
                "private anchors for every host under \"\(name)\", where anyone may register",
                help: "name the hosts that the private root signs for")
        }
        draft.hosts.append(rule)
    }

    private mutating func readName(
        _ members: [PolicyFileKeys.Rule: JSONValue], of rule: JSONValue, _ path: @autoclosure () -> PolicyPath
    ) -> ServerName? {
        let help = "add \"host\": \"api.example.com\""
        guard let value = required(.host, of: members, in: rule, at: path(), help: help) else { return nil }
        guard let text = value.stringBytes else {
            reportType(of: value, path()["host"], "a string in double quotes")
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
        guard let text = string(value, place["note"]) else { return }
        if let problem = PolicyNotes.problem(of: text) {
            return report("invalid-note", value, place["note"], problem, help: "write one short line")
        }
        draft.notes[place] = text
    }
}

extension PolicyFileReader {
    mutating func readAnchors(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> TrustAnchors {
        if let known = anchorSets[value.source] { return known }
        let path = path()
        let count = problems.count
        guard let members = members(of: value, as: PolicyFileKeys.Anchors.self, path) else { return .system }
        let system = members[.system].flatMap { boolean($0, path["system"]) } ?? false
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
        guard let text = string(value, path) else { return [] }
        if text.utf8.starts(with: "-----BEGIN".utf8) {
            return certificates(Array(text.utf8), of: "the inline PEM", value, path)
        }
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
