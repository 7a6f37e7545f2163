#if os(Linux)
import Foundation
import PintleCrypto
import Testing

@testable import Pintle

/// The states of a family and the model's answers.
struct ModelFamily {
    typealias Object = ModelState.Object

    let kind: String
    let legend: [Character: Object]
    let answers: [Character]
    private let defaults: Object
    private let base: Object
    private let dimensions: [[Object]]

    init(_ name: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", root.appendingPathComponent("Models/decision.py").path, "family", name]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = output.split(separator: "\n")
        try #require(process.terminationStatus == 0 && lines.count > 2, "the model gave no family \(name)")
        let head = try #require(try Self.object(lines[0]))
        let fixed = try #require(head["fixed"] as? Object)
        defaults = try #require(head["defaults"] as? Object).merging(fixed) { $1 }
        base = try #require(head["baseRule"] as? Object)
        kind = try #require(head["kind"] as? String)
        dimensions = try #require(head["dimensions"] as? [Object]).map { try #require($0["values"] as? [Object]) }
        let legend = try #require(try Self.object(lines[1])?["legend"] as? [String: Object])
        self.legend = Dictionary(uniqueKeysWithValues: legend.map { (Character($0), $1) })
        answers = Array(lines.dropFirst(2).joined())
        let count = try #require(head["count"] as? Int)
        try #require(answers.count == count)
    }

    /// Returns the code's answer, in the words of the model's legend.
    ///
    /// - Throws: an error for a state that no policy or server can have.
    func answer(of fields: Object) throws -> [String: String] {
        switch kind {
        case "vouch": try ModelState(fields).vouching
        case "question": try ModelState(fields).question
        case "answering": try ModelState(fields).answering
        case "reading": try ModelChain(fields).answer
        default: try ModelState(fields).answer
        }
    }

    /// Returns a value of the legend as text. The order of a list does not count.
    static func text(_ value: Any) -> String {
        (value as? [String]).map { $0.sorted().joined(separator: " ") } ?? "\(value)"
    }

    private static func object(_ line: Substring) throws -> Object? {
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object
    }

    /// Returns the fields of a state. `rules` has the policy's rules.
    func state(_ number: Int) -> Object {
        var (fields, rest) = (defaults, number)
        var values: [Object] = []
        for dimension in dimensions.reversed() {
            values.append(dimension[rest % dimension.count])
            rest /= dimension.count
        }
        var rule: Object? = base
        var added: [Object] = []
        for value in [defaults] + values.reversed() {
            for (key, member) in value {
                switch key {
                case "rule": rule = (member as? Object).flatMap { members in rule?.merging(members) { $1 } }
                case "addRule": added += (member as? [Object] ?? []).map { base.merging($0) { $1 } }
                default: fields[key] = member
                }
            }
        }
        fields["rules"] = (rule.map { [$0] } ?? []) + added
        return fields
    }
}

/// A state with the values that the decision takes.
struct ModelState {
    typealias Object = [String: Any]

    private let fields: Object
    private let policy: PinningPolicy
    private let endpoint: ServerEndpoint
    let approvals: TrustApprovals
    private let leaf: String

    private struct NoState: Error {}

    /// - Throws: an error for a state that no policy or server can have.
    init(_ fields: Object) throws {
        self.fields = fields
        leaf = fields["leaf"] as? String ?? ""
        let state = Values(fields, leaf: leaf)
        let rules = try (fields["rules"] as? [Object] ?? []).map(state.rule)
        let unpinned = (fields["unpinnedHosts"] as? String).flatMap(PinningPolicy.UnpinnedHosts.init)
        guard let unpinned, let endpoint = fields["endpoint"] as? Object else { throw NoState() }
        policy = try PinningPolicy(hosts: rules, unpinnedHosts: unpinned)
        self.endpoint = try state.endpoint(endpoint)
        approvals = TrustApprovals(
            try (fields["approvals"] as? [Object] ?? []).map(state.approval),
            record: fields["recordIsComplete"] as? Bool == false ? .lost : .complete)
        // The model takes the result of reading a path as given; here it follows from the path.
        guard fields["clientPath"] is NSNull || fields["chain"] as? String != "limits-exceeded" else { throw NoState() }
    }

    var now: Date { Date(timeIntervalSince1970: (fields["now"] as? NSNumber)?.doubleValue ?? 0) }

    var decision: TrustDecision {
        let values = Values(fields, leaf: leaf)
        if let path = fields["clientPath"] as? [String] {
            return policy.decide(
                endpoint, path: ValidatedPath(uncheckedLeafToAnchor: path.map(values.der)), approvals: approvals,
                at: now)
        } else {
            let presented: [[UInt8]] =
                switch fields["chain"] as? String {
                case "empty-chain": []
                case "limits-exceeded": Array(repeating: values.der(leaf), count: 129)
                case "malformed-certificate": [[0x30, 0x00]]
                default: [values.der(leaf)] + (fields["alsoSent"] as? [String] ?? []).map(values.der)
                }
            let newest = (fields["newestKnownTime"] as? NSNumber).map { Date(timeIntervalSince1970: $0.doubleValue) }
            return policy.evaluate(
                endpoint, presented: presented, approvals: approvals, at: now, newestKnownTime: newest,
                validate: values.outcome
            ).decision
        }
    }

    /// Asks the user about the server, with these approvals.
    private func ask(_ approvals: TrustApprovals) throws -> TrustEvaluation {
        let values = Values(fields, leaf: leaf)
        return try PinningPolicy(hosts: [], unpinnedHosts: .askUser).evaluate(
            endpoint, presented: [values.der(leaf)], approvals: approvals, at: now, validate: values.outcome)
    }

    private func codes(_ field: String) -> Set<TrustApproval.AcceptedFailure> {
        Set((fields[field] as? [String] ?? []).compactMap(TrustApproval.AcceptedFailure.init))
    }

    private func approval(
        accepting accepts: Set<TrustApproval.AcceptedFailure> = [], until end: Date? = nil
    ) -> TrustApproval {
        let certificate = CertificatePin(certificate: Values(fields, leaf: leaf).der(leaf))
        return TrustApproval(
            unchecked: .certificate(certificate), for: endpoint, accepting: accepts,
            at: Date(timeIntervalSince1970: 0), until: end, note: nil, revokedAt: nil)
    }

    /// The path of a server that the user vouches for, or its failure.
    var vouching: [String: String] {
        get throws {
            let evaluation = try ask(TrustApprovals([approval(accepting: codes("A"))]))
            switch evaluation.decision {
            case .trusted(.userApproved): return ["path": evaluation.path?.count == 1 ? "leaf" : "first"]
            case .rejected(.invalidPath(let failure)):
                let findings = Set(([failure.primary] + failure.detail).map(\.code.rawValue))
                return ["code": failure.code.rawValue, "findings": ModelFamily.text(Array(findings))]
            default: return ["decision": "\(evaluation.decision)"]
            }
        }
    }

    private func unknownHost(_ approvals: TrustApprovals) throws -> UnknownHost {
        guard case .rejected(.unknownHost(let host)) = try ask(approvals).decision else { throw NoState() }
        return host
    }

    private var part: UnknownHost.ApprovedPart { fields["subject"] as? String == "key" ? .key : .certificate }

    /// The question to the user, and what an approval in answer accepts.
    var question: [String: String] {
        get throws {
            let host = try unknownHost(.none)
            let approval = try? host.approval(of: part, alsoAccepting: codes("shown"), at: now)
            return [
                "unacceptable": host.unacceptableFailure?.code.rawValue ?? "<null>",
                "exceptions": ModelFamily.text(host.exceptionsOfCertificate.map(\.rawValue)),
                "accepts": approval.map { ModelFamily.text($0.accepts.map(\.rawValue)) } ?? "<null>",
            ]
        }
    }

    /// The fate of the answer to a question: `1` if it is stored.
    var answering: [String: String] {
        get throws {
            func isSet(_ field: String) -> Bool { fields[field] as? Bool == true }
            func date(_ field: String) -> Date? {
                (fields[field] as? NSNumber).map { Date(timeIntervalSince1970: $0.doubleValue) }
            }
            /// Asks and answers, with these records of the approvals.
            func isStored(_ asked: TrustApprovals.Record, _ answered: TrustApprovals.Record) throws -> Bool {
                var approvals = TrustApprovals(isSet("earlier") ? [approval(until: now)] : [], record: asked)
                let host = try unknownHost(approvals)
                approvals.record = answered
                if fields["stored"] as? String == "changed" { approvals.replace(approval(until: now - 1)) }
                let before = approvals
                _ = try? approvals.approve(
                    host, as: part, alsoAccepting: codes("shown"), at: date("answerTime") ?? now,
                    until: date("newExpiresAt"), acceptingIncompleteRecord: isSet("told"))
                return approvals != before
            }
            // The record may be incomplete at the question, at the answer, or at both.
            let results =
                try isSet("complete")
                ? [isStored(.complete, .complete)]
                : [isStored(.lost, .lost), isStored(.unreadable, .complete), isStored(.complete, .lost)]
            return ["stored": results.allSatisfy { $0 == results[0] } ? (results[0] ? "1" : "0") : "\(results)"]
        }
    }

    /// The answer, in the words of the model's legend.
    var answer: [String: String] {
        switch decision {
        case .trusted(let basis):
            var words = ["answer": "trusted", "reason": basis.reason]
            if case .pinMatched(let match) = basis {
                (words["depth"], words["backup"]) = ("\(match.depth)", match.isBackup ? "1" : "0")
                words["pin"] = name(of: match)
            }
            if case .pinsExpired(let expired) = basis { words["suspicious"] = expired.isClockSuspicious ? "1" : "0" }
            return words
        case .rejected(let rejection):
            var words = ["answer": "rejected", "reason": rejection.reason]
            switch rejection {
            case .invalidPath(let failure):
                words["code"] = failure.code.rawValue
                words["term"] = ["minimumPathLength", "issuerKey"].first(where: failure.primary.text.hasPrefix)
            case .unknownHost(let host): words["code"] = host.pathFailure?.code.rawValue ?? "<null>"
            case .pinsExpired(let expired): words["suspicious"] = expired.isClockSuspicious ? "1" : "0"
            default: break
            }
            return words
        }
    }

    /// Returns the list and the place of the pin that matched: `pins[0]`.
    private func name(of match: PinMatch) -> String? {
        let rule = policy.rule(for: endpoint).map { policy.hosts[$0.index] }
        let place = (match.isBackup ? rule?.backupPins : rule?.pins)?.firstIndex(of: match.pin)
        return place.map { (match.isBackup ? "backupPins" : "pins") + "[\($0)]" }
    }

    /// Makes the values of a state.
    private struct Values {
        private let fields: Object
        private let leaf: String

        init(_ fields: Object, leaf: String) {
            (self.fields, self.leaf) = (fields, leaf)
        }

        /// Returns the certificate `KEY/CERTIFICATE`. A key `-` cannot be read.
        func der(_ name: String) -> [UInt8] {
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2, parts[0] != "-" else { return Array(name.utf8) }
            var certificate = UnsignedCertificate()
            certificate.key = key(parts[0])
            certificate.subject = UnsignedCertificate.commonName(parts[1])
            certificate.notAfter = DERBytes.utcTime("491231235959Z")
            if name == leaf {
                if fields["leafHasEnded"] as? Bool == true { certificate.notAfter = DERBytes.utcTime("300101000000Z") }
                if fields["leafIsForOtherPurpose"] as? Bool == true {
                    let purposes = DERBytes.sequence(DERBytes.oid(1, 3, 6, 1, 5, 5, 7, 3, 2))
                    certificate.extensions = [UnsignedCertificate.extensionField(DERBytes.oid(2, 5, 29, 37), purposes)]
                }
            }
            return certificate.der
        }

        private func key(_ name: String) -> [UInt8] {
            UnsignedCertificate.p256Key(name.utf8.reduce(7) { ($0 &* 131 &+ Int($1)) & 0xFFFF })
        }

        private func keyPin(_ name: String) -> PublicKeyPin { PublicKeyPin(digest: SHA256Digest(hashing: key(name))) }

        /// `key:KEY` or `cert:CERTIFICATE`. The key of a certificate is part of its name here.
        private func subject(_ text: Substring) throws -> Pin.Subject {
            if text.hasPrefix("key:") { return .publicKey(keyPin(String(text.dropFirst(4)))) }
            let certificate = String(text.dropFirst(5))
            let name = all.first { $0.hasSuffix("/" + certificate) } ?? "-/" + certificate
            return .certificate(CertificatePin(certificate: der(name)))
        }

        /// All certificates of the state.
        private var all: [String] {
            var all = [leaf] + (fields["clientPath"] as? [String] ?? []) + (fields["alsoSent"] as? [String] ?? [])
            for (key, value) in fields where key.hasPrefix("validate:") {
                all += ((value as? Object)?["paths"] as? [[String]] ?? []).flatMap(\.self)
            }
            return all
        }

        private func pin(_ text: String) throws -> Pin {
            let parts = text.split(separator: "@")
            guard parts.count == 2, let position = PinPosition(rawValue: String(parts[1])) else { throw NoState() }
            return Pin(try subject(parts[0]), at: position)
        }

        func endpoint(_ object: Object) throws -> ServerEndpoint {
            guard let host = object["host"] as? String, let port = object["port"] as? Int else { throw NoState() }
            return ServerEndpoint(host: try ServerName(host), port: UInt16(port))
        }

        func rule(_ object: Object) throws -> PinnedHost {
            guard let host = object["host"] as? String, let set = object["anchors"] as? String,
                let requires = (object["requires"] as? String).flatMap(PinRequirement.init),
                let enforcement = (object["enforcement"] as? String).flatMap(Enforcement.init)
            else { throw NoState() }
            let (pins, backups) = (
                try (object["pins"] as? [String] ?? []).map(pin), try (object["backupPins"] as? [String] ?? []).map(pin)
            )
            var expiry = PinExpiry.never
            if let end = object["expiry"] as? Object, let after = end["after"] as? NSNumber {
                let date = Date(timeIntervalSince1970: after.doubleValue)
                expiry = end["then"] as? String == "reject" ? .rejecting(after: date) : .systemTrust(after: date)
            }
            return try PinnedHost(
                host, port: (object["port"] as? Int).map { UInt16($0) },
                includingSubdomains: object["includeSubdomains"] as? Bool ?? false, pins: pins, backupPins: backups,
                backup: backups.isEmpty && !pins.isEmpty ? .noneAccepted : .required, requires: requires,
                expiry: expiry, enforcement: enforcement, anchors: try anchors(set),
                minimumPathLength: object["minimumPathLength"] as? Int,
                issuerKey: (object["issuerKey"] as? String).map { Pin(.publicKey(keyPin($0))) })
        }

        func approval(_ object: Object) throws -> TrustApproval {
            guard let text = object["subject"] as? String else { throw NoState() }
            let accepts = (object["accepts"] as? [String] ?? []).compactMap(TrustApproval.AcceptedFailure.init)
            let end = (object["expiresAt"] as? NSNumber).map { Date(timeIntervalSince1970: $0.doubleValue) }
            let past = Date(timeIntervalSince1970: 0)
            return TrustApproval(
                unchecked: try subject(Substring(text)), for: try endpoint(object), accepting: Set(accepts), at: past,
                until: end, note: nil, revokedAt: object["isRevoked"] as? Bool == true ? past : nil)
        }

        /// Returns the anchors that stand for a set of the model.
        private func anchors(_ set: String) throws -> TrustAnchors {
            guard set != "system" else { return .system }
            var certificate = UnsignedCertificate()
            certificate.subject = UnsignedCertificate.commonName("anchors " + set)
            return .only([try certificate.read()])
        }

        /// Validates as the state says. Of several paths it takes the one that a validator has to prefer.
        func outcome(_ request: PathRequest) -> PathOutcome {
            if request.anchors == .only([request.chain.leaf]) {
                let accepted = Set(request.accepted.map(\.rawValue))
                let rest = (fields["leafFindings"] as? [String] ?? []).filter { !accepted.contains($0) }
                return failure(rest) ?? .valid(ValidatedPath(uncheckedLeafToAnchor: [request.chain.leaf.der]))
            }
            for (key, value) in fields where key.hasPrefix("validate:") {
                guard let anchors = try? anchors(String(key.dropFirst(9))), anchors == request.anchors,
                    let value = value as? Object
                else { continue }
                if let codes = value["failure"] as? [String], let outcome = failure(codes) { return outcome }
                let paths = (value["paths"] as? [[String]] ?? []).map {
                    ValidatedPath(uncheckedLeafToAnchor: $0.map(der))
                }
                let best = paths.first(where: request.isSatisfied) ?? paths.first(where: request.meetsTerms)
                if let path = best ?? paths.first { return .valid(path) }
            }
            return .invalid(PathFailure(.malformedCertificate, text: "the state has no such anchors"))
        }

        private func failure(_ codes: [String]) -> PathOutcome? {
            let findings = codes.compactMap(PathFailure.Code.init).map { PathFailure.Finding($0, text: $0.rawValue) }
            return PathFailure(findings).map(PathOutcome.invalid)
        }
    }
}
/// Certificates as a server sends them, of the sizes and with the parts that a state says.
///
/// The limit on names is a fiftieth of the real one, and so are large numbers of names: the real ones do not fit into
/// small certificates.
struct ModelChain {
    private var certificates: [[UInt8]] = []

    init(_ fields: ModelState.Object) throws {
        let sizes = (fields["sizes"] as? [[Int]] ?? []).flatMap { Array(repeating: $0[1], count: $0[0]) }
        let (large, unreadable) = (fields["tooManyParts"] as? [Int] ?? [], fields["unreadable"] as? [Int] ?? [])
        let names = fields["names"] as? [String: Int] ?? [:]
        for (place, size) in sizes.enumerated() {
            let count = names["\(place)"] ?? 1
            certificates.append(
                Self.certificate(
                    size, names: count > 1 ? count / 50 + count % 50 : 1, hasManyParts: large.contains(place),
                    hasUnnamedCurve: unreadable.contains(place)))
        }
    }

    /// Returns a certificate of a size. Those of 1,000 bytes have four times that size, which no limit is near to.
    private static func certificate(_ size: Int, names: Int, hasManyParts: Bool, hasUnnamedCurve: Bool) -> [UInt8] {
        var certificate = UnsignedCertificate()
        let name = DERBytes.element(0x82, Array("a".utf8))
        let list = DERBytes.sequence(Array(repeating: name, count: names).flatMap(\.self))
        certificate.extensions = [UnsignedCertificate.extensionField(DERBytes.oid(2, 5, 29, 17), list)]
        if hasManyParts {
            let purposes = Array(repeating: DERBytes.oid(2, 5, 29, 37), count: 129).flatMap(\.self)
            certificate.extensions?.append(
                UnsignedCertificate.extensionField(DERBytes.oid(2, 5, 29, 37), DERBytes.sequence(purposes)))
        }
        if hasUnnamedCurve {
            certificate.key = DERBytes.sequence(
                DERBytes.sequence(DERBytes.oid(1, 2, 840, 10045, 2, 1), DERBytes.sequence(DERBytes.integer(1))),
                DERBytes.bitString([4]))
        }
        let size = size == 1_000 ? 4_000 : size
        guard size > 1_000 else { return Array(repeating: 0x30, count: size) }
        let parts = certificate.extensions ?? []
        var (padding, der) = (size - certificate.der.count, [UInt8]())
        while der.count != size {
            padding += der.isEmpty ? -40 : size - der.count
            let filler = UnsignedCertificate.extensionField(
                DERBytes.oid(2, 5, 29, 99), Array(repeating: 0, count: padding))
            certificate.extensions = parts + [filler]
            der = certificate.der
        }
        return der
    }

    var answer: [String: String] {
        var limits = PresentedChain.Limits()
        limits.names /= 50
        do throws(PathFailure) {
            let chain = try PresentedChain(certificates, limits: limits)
            return ["chain": "readable", "kept": "\(chain.certificates.count)"]
        } catch {
            return ["chain": error.code.rawValue, "kept": "0"]
        }
    }
}
#endif
