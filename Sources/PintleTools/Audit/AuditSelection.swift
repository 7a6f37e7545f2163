internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem

/// The results that count: the newest one of each server in all files. Of equally new results, the first one counts.
///
/// Only a key, a date and a position are kept for each server. The files are read once for these, and once more for
/// each call of ``read(_:)``.
struct AuditSelection {
    private let paths: [String]
    private var newest: [AuditKey: (instant: Date, place: Int)] = [:]

    /// The number of results that count.
    var count: Int { newest.count }

    /// - Parameters:
    ///   - wanted: the servers whose results count; nil for all.
    ///   - warning: called for each file whose last line was cut off.
    /// - Throws: `other-policy` and `other-anchors` with the place of the result that differs from the first.
    init(
        of paths: [String], wanted: Set<AuditKey>? = nil, warning: (String) -> Void = { _ in }
    ) throws(ToolError) {
        self.paths = paths
        var newest: [AuditKey: (instant: Date, place: Int)] = [:]
        var basis: AuditBasis?
        var place = 0
        for path in paths {
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
                throw .unusable(
                    "not-a-file", "results are read more than once, and a pipe only once", file: path,
                    hint: "keep them in a file")
            }
            let isTorn = try AuditReader.forEach(in: path) { record, line throws(ToolError) in
                defer { place += 1 }
                let first = basis ?? AuditBasis(record)
                basis = first
                if let error = first.problem(with: record) {
                    throw .unusable(
                        error.code, error.message + " than the results before it", file: path, line: line,
                        hint: "such results do not mix: make a report of each")
                }
                let key = record.server.key
                guard wanted?.contains(key) ?? true else { return }
                if let known = newest[key], known.instant >= record.instant { return }
                newest[key] = (record.instant, place)
            }
            if isTorn { warning("\(path): the last line was cut off and does not count") }
        }
        self.newest = newest
    }

    /// Calls `body` with each result that counts, in the order of the files.
    func read(_ body: (AuditRecord) throws(ToolError) -> Void) throws(ToolError) {
        var place = 0
        for path in paths {
            _ = try AuditReader.forEach(in: path) { record, _ throws(ToolError) in
                defer { place += 1 }
                if newest[record.server.key]?.place == place { try body(record) }
            }
        }
    }
}
