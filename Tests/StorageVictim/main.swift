import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleStorage
import Synchronization

// The program that the storage tests start and kill while it works.
//
// approve STORE NAME COUNT [STEP]: approves NAME-0.test, NAME-1.test... and prints the number of each when it is done.
// At the given step of the writing, counted from 1 over all of them, it kills itself. hold STORE: takes the lock,
// prints "held", and waits until it is killed. starve STORE: approves, lets another store approve, and prints the
// approvals before, without a free descriptor, and after. open STORE USER: changes from root to another user, and
// prints the reason that the store cannot be opened.

let words = CommandLine.arguments.dropFirst()
let steps = Atomic(0)

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}

func store(_ path: String, endAt last: Int? = nil) throws -> TrustApprovalStore {
    let options = DurableFile.Options(maximumSize: TrustApprovals.maximumFileSize, pieceSize: 100) { _ in
        if steps.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
    }
    return try TrustApprovalStore(file: DurableFile(path, options: options)) { event in say("event: \(event)") }
}

func approve(_ path: String, _ name: String, count: Int, endAt last: Int?) throws {
    let store = try store(path, endAt: last)
    for number in 0..<count {
        let endpoint = ServerEndpoint(host: try ServerName("\(name)-\(number).test"))
        let pin = CertificatePin(certificate: Array("\(name)-\(number)".utf8))
        try store.approve(TrustApproval(.certificate(pin), for: endpoint, at: Date()))
        say("\(number)")
    }
}

func starve(_ path: String) throws {
    let (one, other) = (try store(path), try store(path))
    func look() { say("\(one.approvals.count) \(one.approvals.record) \(one.problem?.code ?? "-")") }
    func approve(_ name: String, _ store: TrustApprovalStore) throws {
        let pin = CertificatePin(certificate: Array(name.utf8))
        try store.approve(
            TrustApproval(.certificate(pin), for: ServerEndpoint(host: try ServerName(name)), at: Date()))
    }
    try approve("a.test", one)
    look()
    try approve("b.test", other)
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
    let before = limit.rlim_cur
    limit.rlim_cur = 0
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
    look()
    limit.rlim_cur = before
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
    look()
}

do {
    switch (words.first, Array(words.dropFirst())) {
    case ("approve", let rest) where rest.count >= 3:
        try approve(rest[0], rest[1], count: Int(rest[2]) ?? 0, endAt: rest.count > 3 ? Int(rest[3]) : nil)
    case ("hold", let rest) where rest.count == 1:
        let lock = try DurableFile(rest[0], options: .init(maximumSize: 1)).lock()
        say("held")
        while true { pause() }
        withExtendedLifetime(lock) {}
    case ("starve", let rest) where rest.count == 1: try starve(rest[0])
    case ("open", let rest) where rest.count == 2:
        guard setuid(uid_t(rest[1]) ?? 65_534) == 0 else { exit(3) }
        _ = try store(rest[0])
    default: exit(2)
    }
} catch let error as TrustStoreError {
    say("\(error.code): \(error)")
    exit(1)
}
