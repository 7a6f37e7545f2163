import Glibc
import PintleTestKit
import Synchronization
import Testing

@testable import PintleStorage

/// Locks whose lock file is removed.
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
        "The holder of a removed lock can change nothing, and the holder of its replacement can",
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

    @Test("A process that waits for a removed lock waits for its replacement")
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
            // The task should be waiting for the first lock by now. If it is not, the test passes without testing
            // anything.
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

    @Test("A released lock is free even while a forked child process still has its descriptor")
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

    @Test("A reader never finds the lock's file empty while a note is replaced")
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

    @Test("A shorter note leaves no bytes of a longer one")
    func shorterNote() throws {
        let lock = try file.lock()
        for count in [65, 3, 0, 65] {
            let bytes = [UInt8](repeating: UInt8(count), count: count)
            try lock.write(note: bytes)
            #expect(try lock.note(limit: 100) == bytes)
        }
    }

    /// Returns the descriptors that this process has open on a file.
    private func descriptors(of path: String) -> [Int32] {
        (0..<Int32(1_024)).filter { number in
            var (own, named) = (stat(), stat())
            guard fstat(number, &own) == 0, stat(path, &named) == 0 else { return false }
            return own.st_dev == named.st_dev && own.st_ino == named.st_ino
        }
    }
}
