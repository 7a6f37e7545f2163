import FoundationEssentials

@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyTools
@testable import PintleTools

/// The inputs of `pintle audit`: results and lists of hosts. Whatever a result contains, its row of the page has only
/// the page's own elements, and the observations of a history are in order. Every line of a list is a server, which
/// parses to itself when printed, or an error with its place.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    results(input)
    history(input)
    hosts(input)
    return 0
}

private func results(_ input: [UInt8]) {
    var reader = AuditReader("results", ByteSource(input))
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    var tally = AuditTally(now: now, requiresHybrid: true)
    var isReadable = true
    do {
        while let record = try reader.next() {
            tally.add(record)
            let cells = AuditReport.cells(of: record, now: now, requiresHybrid: false)
            let row = ReportHTML.row(cells, of: AuditReport.columns)
            let elements = row.split(separator: "<", omittingEmptySubsequences: false).dropFirst()
            guard
                elements.allSatisfy({
                    ["tr>", "td>", "td class=\"", "/td>", "/tr>", "br>"].contains(where: $0.hasPrefix)
                })
            else { fatalError("markup in \(row)") }
            guard elements.count(where: { $0.hasPrefix("td") }) == 10 else { fatalError("not ten cells in \(row)") }
        }
    } catch {
        isReadable = false
        guard error.line != nil else { fatalError("an error without a place: \(error.text)") }
    }
    guard tally.reasons.count <= 100, tally.problems.count <= 100 else { fatalError("more codes than are counted") }
    guard !isReadable || reader.wholeBytes + reader.tornBytes == input.count else { fatalError("bytes are missing") }
    let svg = tally.timeline.svg
    guard !svg.contains("<script"), svg.hasSuffix("</svg>") else { fatalError("markup in \(svg)") }
}

private func history(_ input: [UInt8]) {
    var reader = AuditReader("results", ByteSource(input), readsPaths: true)
    let limits = HistoryLimits(servers: 20, results: 200, certificates: 40)
    var history = HistoryReader(limits: limits)
    do {
        while let record = try reader.next() { try history.add(record, file: "results", line: reader.line) }
    } catch {
        guard error.line != nil else { fatalError("an error without a place: \(error.text)") }
    }
    let histories = history.histories.values
    guard histories.count <= limits.servers else { fatalError("more servers than the limit") }
    for history in histories {
        let (instants, changes) = (history.observations.map(\.instant), history.changes)
        guard instants == instants.sorted() else { fatalError("observations out of order") }
        guard changes.count < max(1, instants.count), history.renewals.count <= changes.count(where: \.leafCertificate)
        else { fatalError("changes that no two observations show") }
    }
}

private func hosts(_ input: [UInt8]) {
    guard let file = try? InputFile("-", standardInput: ByteSource(input)) else { return }
    let list = AuditHostList(file)
    var errors: [ToolError] = []
    var servers: [AuditServer] = []
    list.read(&errors) { servers.append($0) }
    // The two that concern the file as a whole.
    let placeless: Set = ["more-errors", "other-kind"]
    guard errors.allSatisfy({ placeless.contains($0.code) || $0.line != nil && $0.column != nil }) else {
        fatalError("an error without a place")
    }
    for endpoint in servers.map(\.endpoint) {
        guard let again = try? HostArgument.endpoint(endpoint.description), again == endpoint else {
            fatalError("\(endpoint) reads as something else")
        }
        guard (1...7).count(where: { AuditShard("\($0)/7")?.contains(endpoint.host) == true }) == 1 else {
            fatalError("\(endpoint) is not in one part of seven")
        }
    }
}
