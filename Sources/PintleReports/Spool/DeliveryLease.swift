internal import Pintle
internal import PintleStorage

/// A lease: the exclusive right to send for a limited time, among all processes that share a spool's folder.
///
/// A lock is not enough. The system may suspend an app during a request, and Apple's systems terminate a suspended app
/// that holds a lock. So the lease is a note in the lock's own file with the holder, the start and the length. The lock
/// itself is held only while the note is read or written. If a process ends without releasing the lease, others wait
/// until it expires.
final class DeliveryLease: Sendable {
    private let file: DurableFile
    /// The id of this lease, 32 random hexadecimal digits.
    private let holder: String
    /// The length of the lease in milliseconds.
    private let length: Int64
    private let onStep: (@Sendable (String) -> Void)?

    private static let shortest: Int64 = 60_000
    private static let longest: Int64 = 3_600_000
    /// The milliseconds that a lease lasts beyond the time-out of a request.
    private static let slack: Int64 = 30_000
    private static let patience = 2_000
    /// The longest time-out of a request in seconds, so that the lease lasts longer than the request.
    static let longestRequest = Double(longest - slack) / 1_000

    /// Takes the lease.
    ///
    /// - Parameters:
    ///   - file: the file whose lock has the note.
    ///   - timeout: the time-out of a request in seconds, at most ``longestRequest``. The lease lasts longer than that,
    ///     at most an hour, and is renewed before each request.
    ///   - now: the time of the wall clock.
    ///   - onStep: called after each change of the note. Tests end the process there.
    /// - Throws: `busy` if another holder's lease has not expired.
    init(
        _ file: DurableFile, timeout: Double, at now: Milliseconds, onStep: (@Sendable (String) -> Void)?
    ) throws(StorageError) {
        self.file = file
        self.onStep = onStep
        holder = SpoolName.randomID()
        let request = timeout > 0 ? min(timeout, Self.longestRequest) : 0
        length = max(Int64(request * 1_000) + Self.slack, Self.shortest)
        let lock = try file.lock(patience: Self.patience)
        if let other = Note(lock), other.isHeld(at: now) {
            throw StorageError(
                .busy, at: file.path, message: "another process is sending",
                hint: "wait; its turn ends after an hour at the latest")
        }
        try lock.write(note: Note(holder: holder, since: now, length: length).bytes)
        onStep?("leased")
    }

    /// Restarts the lease's time.
    ///
    /// - Returns: `true` if the caller may send. `false` if another process has taken the lease, for example while this
    ///   one was suspended, or if the lock is not available.
    func renew(at now: Milliseconds) -> Bool {
        guard let lock = try? file.lock(patience: Self.patience), Note(lock)?.holder == holder else { return false }
        do throws(StorageError) {
            try lock.write(note: Note(holder: holder, since: now, length: length).bytes)
        } catch {
            return false
        }
        onStep?("renewed")
        return true
    }

    /// Returns whether a lease that was taken or renewed at `start` has expired at `now`, or starts after `now`.
    func isOver(after start: Milliseconds, at now: Milliseconds) -> Bool { abs(now.count - start.count) >= length }

    /// Releases the lease, unless another process has taken it.
    deinit {
        guard let lock = try? file.lock(patience: Self.patience), Note(lock)?.holder == holder else { return }
        try? lock.write(note: Note(holder: holder, since: .zero, length: 0).bytes)
        onStep?("released")
    }

    /// The content of the lock's file: `HOLDER SINCE LENGTH`, always with the same number of bytes.
    private struct Note {
        let holder: String
        let since: Milliseconds
        let length: Int64

        private static let size = 65
        private static let digits = 15

        init(holder: String, since: Milliseconds, length: Int64) {
            (self.holder, self.since, self.length) = (holder, since, length)
        }

        /// Reads the note; `nil` if no lease wrote it.
        init?(_ lock: FileLock) {
            guard let bytes = try? lock.note(limit: Self.size), bytes.count == Self.size else { return nil }
            let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
            guard words.count == 3, SpoolName.isHex(words[0], 32), let since = Milliseconds(Int64(words[1])),
                let length = Int64(words[2]), 0...DeliveryLease.longest ~= length
            else { return nil }
            self.init(holder: String(words[0]), since: since, length: length)
        }

        var bytes: [UInt8] { Array("\(holder) \(Self.padded(since.count)) \(Self.padded(length))\n".utf8) }

        /// Returns whether the lease is still valid. It is not if the clock was set back by more than its length.
        func isHeld(at now: Milliseconds) -> Bool { abs(now.count - since.count) < length }

        private static func padded(_ number: Int64) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
    }
}
