internal import Pintle
internal import PintleSystem

/// The limits of a history, which bound its memory: 500,000 results with 250,000 certificates take about 170 MB.
struct HistoryLimits {
    var servers = 100_000
    /// Results in all, those without a path included.
    var results = 500_000
    /// Different certificates in all.
    var certificates = 250_000
    /// Different texts in all: names of authorities, rules, reasons, policies. Further ones are left out.
    var texts = 10_000
    /// The columns of such a text.
    var textColumns = 200
}

extension KeyHistory {
    /// Reads the histories of all servers that results name.
    ///
    /// - Parameters:
    ///   - paths: files of `pintle audit -o`, in any order. A pipe can be read too.
    ///   - warning: called with a sentence for each last line that was cut off, and for each file in which the clock
    ///     goes backwards.
    /// - Throws: `malformed-results` with the place of a line that is no result; `too-many-results` beyond the limits.
    static func read(
        _ paths: [String], limits: HistoryLimits = HistoryLimits(), warning: (String) -> Void = { _ in }
    ) throws(ToolError) -> [AuditServer: KeyHistory] {
        var reader = HistoryReader(limits: limits)
        for path in paths { try reader.read(path, warning: warning) }
        return reader.histories
    }
}

/// Collects the results of several files into histories.
///
/// Each certificate, path and text is kept once, so that an observation takes about 40 bytes.
struct HistoryReader {
    private let limits: HistoryLimits
    private var servers: [AuditServer: Results] = [:]
    private var certificates: [CertificatePin: ObservedCertificate] = [:]
    private var paths: [[CertificatePin]: ObservedPath] = [:]
    private var matches: [String: KeyObservation.Match] = [:]
    private var texts: Set<String> = []
    /// The number of results that were read.
    private(set) var count = 0
    /// The SHA-256 of each policy that decided results, in hex; the empty text for results without a policy.
    private(set) var policies: Set<String> = []
    /// The SHA-256 of each set of anchors, in hex; the empty text for the system's.
    private(set) var anchors: Set<String> = []

    private struct Results {
        var observations: [KeyObservation] = []
        var gaps: [KeyGap] = []
    }

    init(limits: HistoryLimits = HistoryLimits()) {
        self.limits = limits
    }

    /// Adds the results of a file.
    mutating func read(_ path: String, warning: (String) -> Void) throws(ToolError) {
        var newest: [AuditServer: Date] = [:]
        var backwards = 0
        var firstBackwards = ""
        let isTorn = try AuditReader.forEach(in: path, readsPaths: true) { record, line throws(ToolError) in
            try add(record, file: path, line: line)
            let server = record.server
            let before = newest[server] ?? record.instant
            if record.instant < before {
                backwards += 1
                if backwards == 1 { firstBackwards = "\(path):\(line): \(server) was asked" }
            }
            newest[server] = max(record.instant, before)
        }
        if isTorn { warning("\(path): the last line was cut off and does not count") }
        if backwards > 0 {
            let others = backwards > 1 ? "; \(ValidityText.counted(backwards - 1, "other line")) too" : ""
            warning("\(firstBackwards) earlier than a line before says\(others): results are ordered by their time")
        }
    }

    /// Adds a result.
    ///
    /// - Parameters:
    ///   - file: the name of the file, for errors.
    ///   - line: counted from 1.
    mutating func add(_ record: AuditRecord, file: String, line: Int) throws(ToolError) {
        func full(_ limit: Int, _ things: String) -> ToolError {
            .unusable(
                "too-many-results", "a history holds at most \(limit) \(things)", file: file, line: line,
                hint: "take fewer files, or the lines of some of the hosts")
        }
        count += 1
        guard count <= limits.results else { throw full(limits.results, "results") }
        let server = record.server
        guard servers[server] != nil || servers.count < limits.servers else { throw full(limits.servers, "servers") }
        if let policy = text(record.policy ?? "") { policies.insert(policy) }
        if let set = text(record.anchors ?? "") { anchors.insert(set) }
        let path: ObservedPath?
        let match: KeyObservation.Match?
        do throws(AuditRecordError) {
            path = try self.path(record.path)
            match = try self.match(record)
        } catch {
            throw .unusable(
                "malformed-results", "this is not a result of an audit: \(error.message)", file: file, line: line,
                hint: "results are what 'pintle audit -o' writes: one JSON object a line")
        }
        guard certificates.count <= limits.certificates else { throw full(limits.certificates, "certificates") }
        if let path {
            let isMismatch = record.reason == "pin-mismatch" || record.reason == "mismatch-reported-only"
            servers[server, default: Results()].observations.append(
                KeyObservation(instant: record.instant, path: path, match: match, isMismatch: isMismatch))
        } else {
            let reason = text(Self.gapReason(record)) ?? "other"
            servers[server, default: Results()].gaps.append(KeyGap(instant: record.instant, reason: reason))
        }
    }

    /// The histories of all servers.
    var histories: [AuditServer: KeyHistory] {
        var histories: [AuditServer: KeyHistory] = [:]
        histories.reserveCapacity(servers.count)
        for (server, results) in servers { histories[server] = Self.history(of: server, results) }
        return histories
    }

    // MARK: Order

    /// Orders the results by their instants, and removes those that stand there twice. The order of the files has no
    /// effect.
    ///
    /// If results of one instant name different paths, their order is not known: they become a gap.
    private static func history(of server: AuditServer, _ results: Results) -> KeyHistory {
        let sorted = results.observations.sorted { order($0) < order($1) }
        var observations: [KeyObservation] = []
        var gaps = Set(results.gaps)
        var start = 0
        while start < sorted.count {
            let instant = sorted[start].instant
            let end = sorted[start...].firstIndex { $0.instant != instant } ?? sorted.count
            let same = sorted[start..<end]
            start = end
            guard let first = same.first, same.allSatisfy({ $0.path === first.path }) else {
                gaps.insert(KeyGap(instant: instant, reason: "conflicting-results"))
                continue
            }
            for (index, observation) in same.enumerated() {
                let isRepeated = index > 0 && order(observation) == order(same[same.startIndex + index - 1])
                if !isRepeated { observations.append(observation) }
            }
        }
        let known = Set(observations.map(\.instant))
        let silent = gaps.filter { !known.contains($0.instant) }
        return KeyHistory(
            server: server, observations: observations,
            gaps: silent.sorted { ($0.instant, $0.reason) < ($1.instant, $1.reason) })
    }

    /// Returns what orders the observations of a server, also those of one instant and path.
    private static func order(_ observation: KeyObservation) -> (Date, Int, String, String) {
        let match = observation.match
        return (
            observation.instant, observation.isMismatch ? 1 : 0, match?.pin.description ?? "", match?.rule ?? ""
        )
    }

    private static func gapReason(_ record: AuditRecord) -> String {
        switch record.outcome {
        case .unreached: record.reason
        case .rejected: record.pathFailure ?? (record.reason == "pin-mismatch" ? "no-certificates" : record.reason)
        case .trusted: "no-certificates"
        }
    }

    // MARK: Sharing

    /// Returns the path that these certificates make; `nil` without a leaf.
    private mutating func path(_ certificates: [AuditCertificate]) throws(AuditRecordError) -> ObservedPath? {
        guard !certificates.isEmpty else { return nil }
        var shared: [ObservedCertificate] = []
        for (depth, certificate) in certificates.enumerated() {
            shared.append(try self.certificate(certificate, atDepth: depth))
        }
        let fingerprints = certificates.map(\.fingerprint)
        if let known = paths[fingerprints] { return known }
        let leaf = shared.removeFirst()
        let root = certificates.last?.isRoot == true ? shared.popLast() : nil
        let path = ObservedPath(leaf: leaf, intermediates: shared, root: root)
        paths[fingerprints] = path
        return path
    }

    private mutating func certificate(
        _ certificate: AuditCertificate, atDepth depth: Int
    ) throws(AuditRecordError) -> ObservedCertificate {
        if let known = certificates[certificate.fingerprint] {
            guard known.key == certificate.spkiPin, known.notBefore == certificate.notBefore,
                known.notAfter == certificate.notAfter
            else {
                throw AuditRecordError(
                    message: "certificate \(known.fingerprint) had another key or other dates in a result before")
            }
            return known
        }
        let name = text(depth == 0 ? certificate.issuer : certificate.subject) ?? ""
        let new = ObservedCertificate(certificate, name: name)
        certificates[certificate.fingerprint] = new
        return new
    }

    private mutating func match(_ record: AuditRecord) throws(AuditRecordError) -> KeyObservation.Match? {
        guard record.reason == "pin-matched", let text = record.matchedPin else { return nil }
        let rule = record.rule.flatMap { self.text($0) }
        let key = "\(text) \(rule ?? "")"
        if let known = matches[key] { return known }
        let pin: Pin
        do {
            pin = try text.hasPrefix("sha256/") ? .publicKey(text) : .certificate(text)
        } catch {
            throw AuditRecordError(message: "matchedPin: \(error)")
        }
        let match = KeyObservation.Match(pin, rule: rule)
        if matches.count < limits.texts { matches[key] = match }
        return match
    }

    /// Returns one copy of a text for all results, shortened; `nil` beyond the limit of different texts.
    private mutating func text(_ text: String) -> String? {
        let short = TextLayout.shortened(text, to: limits.textColumns, ellipsis: "...")
        if let index = texts.firstIndex(of: short) { return texts[index] }
        guard texts.count < limits.texts else { return nil }
        texts.insert(short)
        return short
    }
}
