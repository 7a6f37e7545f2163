import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleStorage
import PintleUpdates
import Synchronization

// The program that the tests of the update store start and kill while it writes.
//
// adopt FOLDER KEY BUNDLED TIME STEP LIMIT UPDATE...: opens the store of an app that trusts the key (hexadecimal) and
// shipped the policy, and adopts the updates (files) at that time. Prints "open VERSION", then for each update "adopted
// VERSION" or "refused REASON". Kills itself at the given step of writing; 0 for never. No file may grow beyond LIMIT
// bytes; 0 for no limit.

let steps = Atomic(0)

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}

func content(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 7, words[0] == "adopt", let last = Int(words[5]), let limit = UInt(words[6]) else { exit(2) }
let key = try UpdateKey(rawRepresentation: try Hex.decode(words[2]))
let bundled = try PinningPolicy(json: content(words[3]))
let now = try RFC3339.date(from: words[4])
if limit > 0 {
    var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
    guard setrlimit(__rlimit_resource_t(1), &limits) == 0 else { exit(3) }  // RLIMIT_FSIZE
    signal(SIGXFSZ, SIG_IGN)
}
let files = StoreFiles(folder: words[1]) { _ in
    if steps.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
}
let store = try PolicyStore(files: files, trust: try UpdateTrust(keys: [key]), bundled: bundled)
say("open \(store.current.policy.updateVersion)")
for update in words.dropFirst(7) {
    do {
        say("adopted \(try await store.adopt(content(update), at: now).version)")
    } catch {
        switch error {
        case .rejected(let rejection): say("refused \(rejection.code.rawValue)")
        case .notStored(let error), .floorUnreadable(let error): say("refused \(error.code.rawValue)")
        case .lostStore: say("refused lost")
        }
    }
    if store.current.policy.updateVersion > 0 { say("in force \(store.current.policy.updateVersion)") }
}
