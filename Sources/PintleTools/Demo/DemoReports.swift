internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleReports
internal import PintleSystem
internal import PintleTLSClient
internal import PintleTestKit

/// The reports of the demonstration's app: their spool, in a temporary folder of its own, and their collector.
final class DemoReports {
    /// The address in the app's policy.
    static let address = "https://reports.test/pins"

    private let folder: TemporaryDirectory
    private let collector: Identity
    private let anchors: [Certificate]
    private let reporter: PinReporter

    init(collector: Identity, anchors: [Certificate], under parent: String) throws(ToolError) {
        folder = try TemporaryDirectory.make(under: parent)
        self.collector = collector
        self.anchors = anchors
        var options = ReportOptions()
        options.longestDelay = 0
        do {
            reporter = PinReporter(
                spool: try ReportSpool(folder: folder.path), options: options, transport: NoTransport())
        } catch {
            throw .unusable("unusable-store", "\(error)")
        }
    }

    /// Plays the story: the app is refused and reports it while the collector is down. An hour later the collector is
    /// up, and the app sends the reports that it kept. After another hour it has nothing left to send.
    ///
    /// - Returns: the reports that were kept and delivered, and whether the result is right.
    func report(_ failure: VerdictEvent, at now: Date) throws(ToolError) -> (text: String, isAsExpected: Bool) {
        reporter.record(failure)
        let server = try DemoScene.server(collector) { _ in HTTPResponse(status: 204) }
        let port = server.port
        // The port is free again, so connections to it are refused.
        server.close()
        try deliver(to: port, at: now)
        let (kept, early) = (reporter.waiting, reporter.counts.delivered)
        let again = try DemoScene.server(collector) { _ in HTTPResponse(status: 204) }
        defer { again.close() }
        for hours in 1...2 { try deliver(to: again.port, at: now.addingTimeInterval(Double(hours) * 3_600)) }
        let late = reporter.counts.delivered
        let isAsExpected = kept == 1 && early == 0 && reporter.waiting == 0 && late == 1 && again.requests.count == 1
        return ("\(kept) kept; up again: \(late) delivered", isAsExpected)
    }

    private func deliver(to port: UInt16, at now: Date) throws(ToolError) {
        var round: DeliveryRound
        do {
            round = try DeliveryRound(reporter) { now }
        } catch {
            throw .unusable("unusable-store", "\(error)")
        }
        while let request = round.next() { round.receive(try? post(request, to: port)) }
    }

    /// Sends over a connection that no pin decides about.
    private func post(_ request: ReportRequest, to port: UInt16) throws(ToolError) -> ReportResponse? {
        let handshake = try LiveHandshake(
            try HostArgument.endpoint("reports.test"), connectTo: try HostArgument.endpoint("127.0.0.1:\(port)"))
        let validator = PathValidator(system: SystemAnchors(replacedBy: anchors))
        let verdict = LiveVerdict(
            of: handshake.endpoint, by: try .withoutRules(), validator: validator, instant: Date())
        guard let connection = try verdict.facts(of: handshake).connection else { return nil }
        defer { connection.close() }
        let head = """
            POST /pins HTTP/1.1\r\nHost: reports.test\r\nContent-Type: \(request.contentType)\r\n\
            Idempotency-Key: "\(request.id)"\r\nContent-Length: \(request.body.count)\r\nConnection: close\r\n\r\n
            """
        do {
            try connection.write(Array(head.utf8) + request.body)
            let words = String(decoding: try connection.read(), as: UTF8.self).split(separator: " ", maxSplits: 2)
            guard words.count > 1, let status = Int(words[1]) else { return nil }
            return ReportResponse(status: status)
        } catch {
            throw ToolError(error)
        }
    }
}

/// A transport that does not wait, because the demonstration starts each delivery itself.
private struct NoTransport: ReportTransport {
    func send(_ request: ReportRequest) async throws -> ReportResponse { ReportResponse(status: 503) }
}
