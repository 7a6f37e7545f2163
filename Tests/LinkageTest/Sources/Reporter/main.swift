import FoundationEssentials
import Pintle
import PintleEvents
import PintlePolicyFile
import PintleReports

// Creates a reporter without a network library: the app provides the transport.
struct SilentTransport: ReportTransport {
    func send(_ request: ReportRequest) async throws -> ReportResponse { ReportResponse(status: 503) }
}

let reporter = try? PinReporter(folder: "/nowhere/at/all", transport: SilentTransport())
let recorder = TrustEventRecorder()
let policy = try PinningPolicy(json: Array(#"{"version": 1, "hosts": []}"#.utf8))
let evaluator = ServerTrustEvaluator(policy: policy) { _ in .invalid(PathFailure(.other, text: "")) }
let server = ServerEndpoint(host: try ServerName("example.com"))
_ = evaluator.observed(by: recorder).evaluate(server, presented: [], at: Date(timeIntervalSince1970: 0))
await recorder.waitForEvents()
print(reporter == nil, recorder.events.count)
