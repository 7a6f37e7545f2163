import Glibc
import PintleTestKit
import Synchronization
import Testing

@testable import PintleStorage

/// Locks whose file somebody removes.
@Suite("The lock of a file")
struct FileLockTests {
    private let folder: TemporaryDirectory
    private let file: DurableFile

    init() throws {
        folder = try TemporaryDirectory()
        file = DurableFile(folder.path(of: "trust.json"), options: .init(maximumSize: 1_000, patience: 20_000))
    }

    private var lockPath: String { file.path + ".lock" }

    @Test(
        "Whoever has a lock whose file was removed changes nothing; whoever has the new one does",
        arguments: [true, false])
    func removed(isRemoved: Bool) throws {
        try file.write([1], under: try file.lock())
        let first = try file.lock()
        if isRemoved {
            #expect(unlink(lockPath) == 0)
            let second = try file.lock()
            for change in [{ try file.write([2], under: first) }, { _ = try file.setAside(under: first) }] {
                let error = #expect(throws: StorageError.self) { try change() }
                #expect(error?.code == .busy)
                #expect(error?.message == "its lock was removed meanwhile")
            }
            #expect(try file.read()?.bytes == [1])
            try file.write([3], under: second)
            #expect(try file.read()?.bytes == [3])
        } else {
            #expect(throws: StorageError.self) { try file.lock(patience: 0) }
            try file.write([2], under: first)
            #expect(try file.read()?.bytes == [2])
        }
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        func raise() { value.withLock { $0 = true } }
        var isUp: Bool { value.withLock { $0 } }
    }

    @Test("Whoever waited for a lock whose file was removed waits for the one that took its place")
    func waiting() async throws {
        var first: FileLock? = try file.lock()
        let hasLock = Flag()
        let file = file
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let lock = try file.lock()
                hasLock.raise()
                withExtendedLifetime(lock) {}
            }
            // It waits for the first one by then; if it does not yet, nothing is tested, and nothing fails.
            usleep(50_000)
            #expect(unlink(lockPath) == 0)
            let second = try file.lock()
            withExtendedLifetime(first) {}
            first = nil
            usleep(50_000)
            #expect(!hasLock.isUp)
            withExtendedLifetime(second) {}
        }
        #expect(hasLock.isUp)
    }

    @Test("A lock that is given back is free, though a process that is being started has its descriptor yet")
    func copied() throws {
        var lock: FileLock? = try file.lock()
        let copies = descriptors(of: lockPath).map { dup($0) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        let error = #expect(throws: StorageError.self) { try file.lock(patience: 0) }
        #expect(error?.code == .busy)
        withExtendedLifetime(lock) {}
        lock = nil
        _ = try file.lock(patience: 0)
    }

    @Test("A reader of the lock's file never finds it empty while a note is replaced")
    func note() async throws {
        let lock = try file.lock()
        try lock.write(note: [UInt8](repeating: 0x61, count: 65))
        let (path, isDone) = (lockPath, Flag())
        let sizes = Task.detached {
            var sizes: Set<Int> = []
            repeat {
                if let bytes = try? RegularFile.content(path, limit: 100) { sizes.insert(bytes.count) }
            } while !isDone.isUp
            return sizes
        }
        for number in 0..<20_000 {
            try lock.write(note: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 65))
        }
        isDone.raise()
        #expect(await sizes.value == [65])
        withExtendedLifetime(lock) {}
    }

    @Test("A shorter note leaves nothing of a longer one")
    func shorterNote() throws {
        let lock = try file.lock()
        for count in [65, 3, 0, 65] {
            let bytes = [UInt8](repeating: UInt8(count), count: count)
            try lock.write(note: bytes)
            #expect(try lock.note(limit: 100) == bytes)
        }
    }

    /// Those of this process that are open on a file.
    private func descriptors(of path: String) -> [Int32] {
        (0..<Int32(1_024)).filter { number in
            var (own, named) = (stat(), stat())
            guard fstat(number, &own) == 0, stat(path, &named) == 0 else { return false }
            return own.st_dev == named.st_dev && own.st_ino == named.st_ino
        }
    }
}
