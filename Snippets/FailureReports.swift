// Observes failures, stores reports about them, and sends the reports to a collector.

// Only on Linux, because on Apple's systems Foundation has no separate networking module.
#if canImport(PintleOpenSSL) && canImport(FoundationNetworking)
import Foundation
import PintleRemote
import PintleURLSession

func report(_ policy: PinningPolicy, folder: String, url: URL) async throws -> Data {
    // snippet.report
    // Once, when the app starts. The folder is the app's own, and is created if needed.
    var options = ReportOptions()
    options.app = ["name": "Mail", "version": "7.1"]
    let reporter = try PinReporter(folder: folder, options: options)
    Task { await reporter.keepDelivering() }

    let session = URLSession.pinned(to: policy, observer: reporter)
    // snippet.end
    return try await session.data(from: url).0
}

func encodings() -> ReportOptions {
    // snippet.encodings
    var options = ReportOptions()
    options.encodings = ["https://otel.example.net:4318/v1/logs": .otlp]
    // snippet.end
    return options
}

func redact() -> ReportOptions {
    // snippet.redact
    var options = ReportOptions()
    options.redact = { report in
        // A customer's host: neither keep nor send the report.
        if report.hostname.hasSuffix(".customers.example.com") { return nil }
        var report = report
        report.validatedCertificateChain = []
        return report
    }
    // snippet.end
    return options
}

func log(_ policy: PinningPolicy, _ reporter: PinReporter) -> URLSession {
    // snippet.log
    let log = TrustEventLog { level, line in print(level, line) }
    let session = URLSession.pinned(to: policy, observer: TrustEventObservers(reporter, log))
    // snippet.end
    return session
}

func updates(_ reporter: PinReporter, folder: String, trust: UpdateTrust, bundled: PinningPolicy) throws -> PolicyStore
{
    let log = TrustEventLog { level, line in print(level, line) }
    // snippet.updates
    let store = try PolicyStore(folder: folder, trust: trust, bundled: bundled) { event in log.observe(event) }
    // snippet.end
    return store
}

func evaluate(_ policy: PinningPolicy, _ reporter: PinReporter) -> ServerTrustEvaluator {
    // snippet.evaluator
    let evaluator = ServerTrustEvaluator(policy: policy).observed(by: reporter)
    // snippet.end
    return evaluator
}

func test(_ policy: PinningPolicy, _ url: URL) async throws -> Bool {
    // snippet.test
    let recorder = TrustEventRecorder()
    let session = URLSession.pinned(to: policy, observer: recorder)
    _ = try? await session.data(from: url)
    await recorder.waitForEvents()
    let isReported = recorder.reports.map(\.reason) == ["pin-mismatch"]
    // snippet.end
    return isReported
}
#endif
