import FoundationEssentials
import Glibc
import Pintle
import PintleEvents
import PintlePolicyFile
import PintleReports
import PintleStorage
import Synchronization

// The program that the tests of the report spool start and kill while it works.
//
// keep FOLDER POLICY STEP HOST...: adds a report for each server, which shows no certificate. Prints "HOST OUTCOME" for
// each. exit FOLDER POLICY STEP HOST...: posts the failures as a session does, then exits at once. linger FOLDER POLICY
// STEP HOST...: the same, with an observer that never returns. deliver FOLDER LOG STEP: sends the reports to a
// collector that appends "ID URL" to the file LOG. Prints the result.
//
// If $LATER is set, it delivers as if it were that many seconds later.
//
// If $LIMIT is set, no file may grow beyond that many bytes. This simulates a full disk.
//
// At the given step of writing or sending it kills itself; 0 for never.

let steps = Atomic(0)
let words = Array(CommandLine.arguments.dropFirst())
let last = words.count >= 4 ? Int(words[3]) ?? -1 : -1
guard last >= 0 else { exit(2) }

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}

@Sendable func step() {
    if steps.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
}

func content(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

/// A collector whose log outlives the process, as a real server's does.
struct Collector: ReportTransport {
    let path: String

    func send(_ request: ReportRequest) async throws -> ReportResponse {
        step()
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        let line = Array("\(request.id) \(request.url)\n".utf8)
        guard write(descriptor, line, line.count) == line.count else { exit(3) }
        step()
        return ReportResponse(status: 204)
    }
}

struct Lingering: TrustEventObserver {
    func observe(_ event: TrustEvent) { while true { sleep(600) } }
}

if let limit = getenv("LIMIT").flatMap({ UInt(String(cString: $0)) }) {
    var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
    guard setrlimit(__rlimit_resource_t(1), &limits) == 0 else { exit(3) }  // RLIMIT_FSIZE
    signal(SIGXFSZ, SIG_IGN)
}
var options = ReportOptions()
options.longestDelay = 0
let spool = try ReportSpool(folder: words[1]) { _ in step() }
// Runs after all exit handlers that are registered later. The events for an observer that never returns are no leak,
// but a sanitizer would report them as one.
if words[0] == "linger" { atexit { _exit(0) } }
switch words[0] {
case "keep", "exit", "linger":
    let policy = try PinningPolicy(json: content(words[2]))
    let reporter = PinReporter(spool: spool, options: options, transport: Collector(path: "/dev/null"))
    for host in words.dropFirst(4) {
        let server = ServerEndpoint(host: try ServerName(host))
        let evaluation = policy.evaluate(server, presented: [], at: Date()) { _ in
            .invalid(PathFailure(.other, text: "not validated"))
        }
        guard let failure = VerdictEvent(evaluation, by: policy, at: Date()) else { exit(4) }
        if words[0] == "exit" {
            TrustEventFeed.shared.post(.verdict(failure), to: reporter)
            continue
        }
        if words[0] == "linger" {
            TrustEventFeed.shared.post(.verdict(failure), to: Lingering())
            continue
        }
        say("\(host) \(reporter.record(failure).map { "\($0)" } ?? "nothing")")
    }
case "deliver":
    let reporter = PinReporter(spool: spool, options: options, transport: Collector(path: words[2]))
    let later = getenv("LATER").flatMap { Double(String(cString: $0)) } ?? 0
    switch await reporter.deliver(at: Date(timeIntervalSinceNow: later)) {
    case .done(let delivered, let failed): say("done \(delivered) \(failed)")
    case .elsewhere: say("elsewhere")
    case .unusable(let error): say("unusable \(error.code.rawValue)")
    }
default: exit(2)
}
