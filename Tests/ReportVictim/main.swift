import FoundationEssentials
import Glibc
import Pintle
import PintleReports
import PintleStorage
import Synchronization

// What the tests of the reports' spool start, and end in the middle of what it does.
//
// keep FOLDER POLICY STEP HOST...: the servers with these names show no certificate, and each failure is kept. Prints
//   "HOST OUTCOME" for each.
// exit FOLDER POLICY STEP HOST...: the same, as a session hands failures over, and then the process ends at once.
// linger FOLDER POLICY STEP HOST...: the same, and nobody takes what is handed over.
// deliver FOLDER LOG STEP: sends what is there to a collector that appends "ID URL" to the file LOG. Prints what came of it.
//
// With $LATER set, it delivers as if it were so many seconds later.
//
// No file may grow beyond $LIMIT bytes, if it is set: a disk that is full.
//
// At the given step, of the writing or of the sending, it kills itself; 0 for never.

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

/// What it has appended outlives the process, as what a server has received does.
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

struct Lingering: TrustFailureObserver {
    func observe(_ event: TrustFailureEvent) { while true { sleep(600) } }
}

if let limit = getenv("LIMIT").flatMap({ UInt(String(cString: $0)) }) {
    var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
    guard setrlimit(__rlimit_resource_t(1), &limits) == 0 else { exit(3) }  // RLIMIT_FSIZE
    signal(SIGXFSZ, SIG_IGN)
}
var options = ReportOptions()
options.longestDelay = 0
let spool = try ReportSpool(folder: words[1]) { _ in step() }
// After everybody who comes to know of the end later than this line. What waits for an observer that never returns is no
// leak, and a sanitizer would take it for one.
if words[0] == "linger" { atexit { _exit(0) } }
switch words[0] {
case "keep", "exit", "linger":
    let policy = try PinningPolicy(json: content(words[2]))
    let reporter = PinReporter(spool: spool, options: options, transport: Collector(path: "/dev/null"))
    for host in words.dropFirst(4) {
        let server = ServerEndpoint(host: try ServerName(host))
        let evaluation = policy.evaluate(server, presented: [], at: Date()) { _ in
            .invalid(PathFailure(.other, text: "nobody looked"))
        }
        guard let failure = TrustFailure(evaluation, by: policy, at: Date()) else { exit(4) }
        if words[0] == "exit" {
            TrustFailureFeed.shared.post(.verdict(failure), to: reporter)
            continue
        }
        if words[0] == "linger" {
            TrustFailureFeed.shared.post(.verdict(failure), to: Lingering())
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
