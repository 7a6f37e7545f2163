import FoundationEssentials
import Glibc
import Pintle
import PintleStorage
import Synchronization

// What the tests of the storage start, and end in the middle of what it does.
//
// approve STORE NAME COUNT [STEP]: approves NAME-0.test, NAME-1.test... and prints the number of each when that is done.
//   At the given step of the writing, counted from 1 over all of them, it kills itself.
// hold STORE: takes the lock, prints "held", and waits for its end.
// open STORE USER: gives up root for another user, and prints why the store cannot be opened.

let words = CommandLine.arguments.dropFirst()
let steps = Atomic(0)

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}

func store(_ path: String, endAt last: Int? = nil) throws -> TrustDecisionStore {
    let options = DurableFile.Options(maximumSize: TrustApprovals.maximumFileSize, pieceSize: 100) { _ in
        if steps.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
    }
    return try TrustDecisionStore(file: DurableFile(path, options: options)) { event in say("event: \(event)") }
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

do {
    switch (words.first, Array(words.dropFirst())) {
    case ("approve", let rest) where rest.count >= 3:
        try approve(rest[0], rest[1], count: Int(rest[2]) ?? 0, endAt: rest.count > 3 ? Int(rest[3]) : nil)
    case ("hold", let rest) where rest.count == 1:
        let lock = try DurableFile(rest[0], options: .init(maximumSize: 1)).lock()
        say("held")
        while true { pause() }
        withExtendedLifetime(lock) {}
    case ("open", let rest) where rest.count == 2:
        guard setuid(uid_t(rest[1]) ?? 65_534) == 0 else { exit(3) }
        _ = try store(rest[0])
    default: exit(2)
    }
} catch let error as TrustStoreError {
    say("\(error.code): \(error)")
    exit(1)
}
