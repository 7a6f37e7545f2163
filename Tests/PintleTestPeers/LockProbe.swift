import FoundationEssentials
import Glibc

/// A lock whose initializer returns `nil` instead of waiting.
package final class LockProbe {
    private let descriptor: Int32

    package init?(_ path: String) {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        if descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) != 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Returns the names of the files in a folder that another open file has locked.
    package static func heldLocks(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".lock") && LockProbe("\(folder)/\($0)") == nil }
    }
}
