internal import Pintle
internal import PintleStorage

/// The right to send, among all processes that share a spool's folder, for a limited time.
///
/// A lock that is held over a request would be held by an app that the system suspends meanwhile, and Apple's systems end
/// such an app. So the right is a note in the lock's own file: who has it, since when, and for how long. The lock itself
/// is held only to read and write that note. A process that ends without giving the lease back keeps others waiting
/// until its time is over.
final class DeliveryLease: Sendable {
    private let file: DurableFile
    /// 32 random hexadecimal digits.
    private let holder: String
    /// In milliseconds.
    private let length: Int64
    private let onStep: (@Sendable (String) -> Void)?

    private static let shortest: Int64 = 60_000
    private static let longest: Int64 = 3_600_000
    /// In milliseconds: what a request needs besides its time-out, and how long the lock is waited for.
    private static let slack: Int64 = 30_000
    private static let patience = 2_000
    /// In seconds: the most that a request may take, so that its lease lasts longer.
    static let longestRequest = Double(longest - slack) / 1_000

    /// Takes the lease.
    ///
    /// - Parameters:
    ///   - file: whose lock has the note.
    ///   - timeout: of one request, in seconds, at most ``longestRequest``. A lease lasts longer than that, at most an
    ///     hour, and is renewed before each request.
    ///   - now: the time of the wall clock.
    ///   - onStep: called after each change of the note, for tests that end the process there.
    /// - Throws: `busy` where another holder's time is not over.
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
                .busy, file.path, "another process is sending", hint: "wait; its turn ends after an hour at the latest")
        }
        try lock.write(note: Note(holder: holder, since: now, length: length).bytes)
        onStep?("leased")
    }

    /// Begins the lease's time again.
    ///
    /// - Returns: whether the caller may send. False once another process has taken the lease, as it may where this one
    ///   was suspended for too long, and where the lock cannot be had.
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

    /// Returns whether a lease that was taken or renewed at one instant has ended by another, or begins after it.
    func isOver(after start: Milliseconds, at now: Milliseconds) -> Bool { abs(now.count - start.count) >= length }

    /// Gives the lease back, where it is still this holder's.
    deinit {
        guard let lock = try? file.lock(patience: Self.patience), Note(lock)?.holder == holder else { return }
        try? lock.write(note: Note(holder: holder, since: .zero, length: 0).bytes)
        onStep?("released")
    }

    /// The content of the lock's file: `HOLDER SINCE LENGTH`, always in as many bytes.
    private struct Note {
        let holder: String
        let since: Milliseconds
        let length: Int64

        private static let size = 65
        private static let digits = 15

        init(holder: String, since: Milliseconds, length: Int64) {
            (self.holder, self.since, self.length) = (holder, since, length)
        }

        /// `nil` for anything that no lease wrote.
        init?(_ lock: FileLock) {
            guard let bytes = try? lock.note(limit: Self.size), bytes.count == Self.size else { return nil }
            let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
            guard words.count == 3, SpoolName.isHex(words[0], 32), let since = Milliseconds(Int64(words[1])),
                let length = Int64(words[2]), 0...DeliveryLease.longest ~= length
            else { return nil }
            self.init(holder: String(words[0]), since: since, length: length)
        }

        var bytes: [UInt8] { Array("\(holder) \(Self.padded(since.count)) \(Self.padded(length))\n".utf8) }

        /// Returns whether the lease still counts. If the clock was set back by more than its length, it does not.
        func isHeld(at now: Milliseconds) -> Bool { abs(now.count - since.count) < length }

        private static func padded(_ number: Int64) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
    }
}
