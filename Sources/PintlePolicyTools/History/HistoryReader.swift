internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleText

/// The limits of a history, which bound its memory.
struct HistoryLimits {
    var servers = 100_000
    /// Results in all, those without a path included.
    var results = 500_000
    /// Different certificates in all.
    var certificates = 250_000
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
/// Each certificate and path is kept once, so that an observation is a date and a reference.
struct HistoryReader {
    private let limits: HistoryLimits
    private var servers: [AuditServer: [KeyObservation]] = [:]
    private var certificates: [CertificatePin: ObservedCertificate] = [:]
    private var paths: [[CertificatePin]: ObservedPath] = [:]
    /// The number of results that were read.
    private var count = 0

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
        let path: ObservedPath?
        do throws(AuditRecordError) {
            path = try self.path(record.path)
        } catch {
            throw .unusable(
                "malformed-results", "this is not a result of an audit: \(error.message)", file: file, line: line,
                hint: "results are what 'pintle audit -o' writes: one JSON object a line")
        }
        guard certificates.count <= limits.certificates else { throw full(limits.certificates, "certificates") }
        // A result without a path says nothing about the keys.
        let observation = path.map { KeyObservation(instant: record.instant, path: $0) }
        servers[server, default: []] += [observation].compactMap(\.self)
    }

    /// The histories of all servers.
    var histories: [AuditServer: KeyHistory] {
        var histories: [AuditServer: KeyHistory] = [:]
        histories.reserveCapacity(servers.count)
        for (server, observations) in servers { histories[server] = Self.history(of: server, observations) }
        return histories
    }

    // MARK: Order

    /// Orders the observations by their instants, and keeps one of each instant. The order of the files has no effect.
    ///
    /// If results of one instant name different paths, their order is not known: none of them counts.
    private static func history(of server: AuditServer, _ results: [KeyObservation]) -> KeyHistory {
        let sorted = results.sorted { $0.instant < $1.instant }
        var observations: [KeyObservation] = []
        var start = 0
        while start < sorted.count {
            let first = sorted[start]
            let end = sorted[start...].firstIndex { $0.instant != first.instant } ?? sorted.count
            if sorted[start..<end].allSatisfy({ $0.path === first.path }) { observations.append(first) }
            start = end
        }
        return KeyHistory(server: server, observations: observations)
    }

    // MARK: Sharing

    /// Returns the path that these certificates make; `nil` without a leaf.
    private mutating func path(_ certificates: [AuditCertificate]) throws(AuditRecordError) -> ObservedPath? {
        guard !certificates.isEmpty else { return nil }
        var shared: [ObservedCertificate] = []
        for certificate in certificates { shared.append(try self.certificate(certificate)) }
        let fingerprints = certificates.map(\.fingerprint)
        if let known = paths[fingerprints] { return known }
        let leaf = shared.removeFirst()
        let root = certificates.last?.isRoot == true ? shared.popLast() : nil
        let path = ObservedPath(leaf: leaf, intermediates: shared, root: root)
        paths[fingerprints] = path
        return path
    }

    private mutating func certificate(
        _ certificate: AuditCertificate
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
        let new = ObservedCertificate(certificate)
        certificates[certificate.fingerprint] = new
        return new
    }
}
