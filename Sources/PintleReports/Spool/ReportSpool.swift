internal import Pintle
package import PintleStorage

/// Reports on the disk, each in a file of its own, until every address is done with them.
///
/// A file is written once and removed once; what changes meanwhile is in `state.json`. Both happen under one lock, so that
/// processes can share a folder. No lock is held while a report is on its way: a process that sends has a ``DeliveryLease``.
package final class ReportSpool: Sendable {
    /// What became of a report that was to be kept.
    package enum Outcome: Sendable, Equatable {
        case kept
        case duplicate
        case hostIsFull
        case isFull
        /// Every address has said that it wants no more.
        case gone
        case notStored(StorageError)
    }

    package static let maximumPerHost = 8
    package static let maximumInAll = 256
    /// In milliseconds: what comes after it waits meanwhile.
    private static let patienceOfKeeping = 2_000

    let folder: PrivateFolder
    private let stateFile: DurableFile
    private let deliveryFile: DurableFile
    private let onStep: (@Sendable (String) -> Void)?
    /// Since the state was last written.
    private let pending = Locked(ReportCounts())
    /// Keys that this process has met, so that an interceptor's thousandth connection costs no look at the disk.
    private let recent = Locked<[String: Milliseconds]>([:])
    /// What this process has sent, where the disk would not take that down: of reports in the spool, by their addresses'
    /// places.
    private let sent = Locked<[String: Set<Int>]>([:])
    /// What addresses have answered, where the disk would not take that down.
    private let unwritten = Locked<[String: SpoolState.Address]>([:])
    package let draw: Double

    /// - Parameters:
    ///   - path: of a folder of its own; made where it is not there.
    ///   - onStep: called after each step of writing, for tests that end the process there.
    package init(folder path: String, onStep: (@Sendable (String) -> Void)? = nil) throws(StorageError) {
        folder = try PrivateFolder(path)
        self.onStep = onStep
        stateFile = Self.file("\(path)/state.json", SpoolState.maximumBytes, onStep)
        deliveryFile = DurableFile("\(path)/delivery", options: .init(maximumSize: 0))
        let lock = try stateFile.lock()
        // One that cannot be read now may well be read later: it is not replaced.
        if let state = try Self.stored(stateFile) {
            draw = state.draw
        } else {
            let state = SpoolState(draw: Double.random(in: 0..<1))
            try stateFile.write(state.json, under: lock)
            draw = state.draw
        }
    }

    private static func file(
        _ path: String, _ maximumSize: Int, _ onStep: (@Sendable (String) -> Void)?
    ) -> DurableFile {
        var options = DurableFile.Options(maximumSize: maximumSize, patience: 5_000)
        if let onStep { options.onStep = { step in onStep(step.rawValue) } }
        return DurableFile(path, options: options)
    }

    private func reportFile(_ name: SpoolName) -> DurableFile {
        Self.file("\(folder.path)/\(name.text)", SpooledReport.maximumBytes, onStep)
    }

    /// Takes the right to send. Its lock is beside the state's, so that a report can be kept meanwhile.
    ///
    /// - Throws: `busy` where another process, or another call, is sending.
    func lease(timeout: Double, at now: Milliseconds) throws(StorageError) -> DeliveryLease {
        try DeliveryLease(deliveryFile, timeout: timeout, at: now, onStep: onStep)
    }

    package var counts: ReportCounts { state().counts + pending.withLock { $0 } }

    func count(_ body: (inout ReportCounts) -> Void) { pending.withLock { body(&$0) } }

    // MARK: Reading

    /// `nil` where there is none, or none that makes sense.
    private static func stored(_ file: DurableFile) throws(StorageError) -> SpoolState? {
        do throws(StorageError) {
            return try file.read().flatMap { SpoolState(json: $0.bytes) }
        } catch {
            guard error.code == .tooLarge else { throw error }
            return nil
        }
    }

    func state() -> SpoolState { merged(try? Self.stored(stateFile)) }

    private func merged(_ stored: SpoolState?) -> SpoolState {
        var state = stored ?? SpoolState(draw: draw)
        state.merge(unwritten.withLock { $0 })
        return state
    }

    /// Oldest first; none where the folder cannot be read now.
    package func names() -> [SpoolName] {
        (listed() ?? []).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// `nil` where the folder cannot be read now.
    private func listed() -> [SpoolName]? {
        (try? Folder.names(in: folder.path))?.compactMap { SpoolName($0) }
    }

    /// `nil` where the file is gone, cannot be read now, or is none that a spool wrote; the last is removed.
    func read(_ name: SpoolName) -> SpooledReport? {
        do throws(StorageError) {
            guard let content = try reportFile(name).read() else { return nil }
            if let report = SpooledReport(json: content.bytes) { return report }
        } catch {
            // Too few descriptors are no fault of the file.
            guard error.code != .unreadable else { return nil }
        }
        if (try? folder.remove(name.text)) != nil { count { $0.lost += 1 } }
        return nil
    }

    /// Drops what is too old. At a time when nobody else may change anything it drops nothing.
    func dropExpired(at now: Milliseconds) {
        guard names().contains(where: { SpoolState.isExpired($0.createdAt, at: now) }),
            let lock = try? stateFile.lock()
        else { return }
        dropExpired(names(), at: now)
        withExtendedLifetime(lock) {}
    }

    /// Under the lock, so that none is counted twice.
    private func dropExpired(_ names: [SpoolName], at now: Milliseconds) {
        for name in names where SpoolState.isExpired(name.createdAt, at: now) {
            if (try? folder.remove(name.text)) != nil { count { $0.expired += 1 } }
        }
    }

    // MARK: Keeping

    /// Whether this very failure was met within 24 hours, as far as this process remembers.
    func isKnown(_ key: String, at now: Milliseconds) -> Bool {
        guard recent.withLock({ $0[key] }).map({ SpoolState.isRecent($0, at: now) }) == true else { return false }
        count { $0.duplicates += 1 }
        return true
    }

    func add(_ report: SpooledReport, as name: SpoolName) -> Outcome {
        let outcome: Outcome
        // Where it is a duplicate, of one that may be older.
        var createdAt = name.createdAt
        do throws(StorageError) {
            outcome = try store(report, name, &createdAt)
        } catch {
            outcome = .notStored(error)
        }
        switch outcome {
        case .kept: break
        case .duplicate: count { $0.duplicates += 1 }
        case .hostIsFull: count { $0.droppedForHost += 1 }
        case .isFull: count { $0.dropped += 1 }
        case .gone: count { $0.gone += 1 }
        case .notStored: count { $0.lost += 1 }
        }
        if outcome == .kept || outcome == .duplicate {
            recent.withLock { recent in
                if recent.count >= SpoolState.maximumSeen { recent = [:] }
                recent[name.key] = createdAt
            }
        }
        return outcome
    }

    /// - Parameter createdAt: of the report that this one is a duplicate of, afterwards.
    private func store(
        _ report: SpooledReport, _ name: SpoolName, _ createdAt: inout Milliseconds
    ) throws(StorageError) -> Outcome {
        let lock = try stateFile.lock(patience: Self.patienceOfKeeping)
        guard let all = try? Folder.names(in: folder.path) else {
            throw StorageError(
                .unreadable, folder.path, "its files cannot be counted", hint: "keep other files out of the folder")
        }
        // A process that was ended while it wrote has left them; whoever has the lock writes nothing else.
        for left in all where left.hasSuffix(SpoolName.suffix + ".new") { try? folder.remove(left) }
        let now = name.createdAt
        let found = all.compactMap { SpoolName($0) }
        dropExpired(found, at: now)
        let names = found.filter { !SpoolState.isExpired($0.createdAt, at: now) }
        let state = state()
        let times = names.filter { $0.key == name.key }.map(\.createdAt) + [state.seen[name.key]].compactMap(\.self)
        if let older = times.filter({ SpoolState.isRecent($0, at: now) }).max() {
            createdAt = older
            return .duplicate
        }
        if report.addresses.allSatisfy({ state.addresses[$0].map { $0.isGone && !$0.isOpen(at: now) } == true }) {
            return .gone
        }
        guard names.count < Self.maximumInAll else { return .isFull }
        guard names.count(where: { $0.host == name.host }) < Self.maximumPerHost else { return .hostIsFull }
        try reportFile(name).write(report.json, under: lock)
        return .kept
    }

    // MARK: Sending

    /// Whether this process has sent it to that address, and the disk has not taken it down.
    func wasSent(_ name: SpoolName, place: Int) -> Bool { sent.withLock { $0[name.id]?.contains(place) } == true }

    /// Removes the file of a report that every address is done with: what ended a process may have come before that.
    func removeIfFinished(_ name: SpoolName, _ report: SpooledReport) -> Bool {
        let finished = state().finished[name.id] ?? []
        guard report.addresses.indices.allSatisfy({ finished.contains($0) || wasSent(name, place: $0) }) else {
            return false
        }
        try? folder.remove(name.text)
        return true
    }

    /// Takes down that an address is done with a report, or that it is to be asked again later.
    ///
    /// The state is written first and the file removed last: a process that ends between the two does not send it again.
    ///
    /// - Parameter change: returns whether the address is done with the report.
    func settle(
        _ name: SpoolName, _ report: SpooledReport, place: Int, at now: Milliseconds,
        _ change: (inout SpoolState) -> Bool
    ) {
        let lock = try? stateFile.lock()
        let stored = Result { () throws(StorageError) in try Self.stored(stateFile) }
        var state = merged(try? stored.get())
        let counts = state.counts
        state.counts = pending.withLock { pending in
            defer { pending = ReportCounts() }
            return pending
        }
        let isFinished = change(&state)
        let delta = state.counts
        state.counts = counts + delta
        let finished = (state.finished[name.id] ?? []).union(isFinished ? [place] : [])
        let isLast = report.addresses.indices.allSatisfy { finished.contains($0) || wasSent(name, place: $0) }
        if isFinished {
            state.finished[name.id] = finished
            if isLast { state.seen[name.key] = name.createdAt }
        }
        // What cannot be seen now may still be there.
        let spooled = listed().map { Set($0.map(\.id)) }
        state.prune(at: now, spooled: spooled)
        if let spooled { sent.withLock { $0 = $0.filter { spooled.contains($0.key) } } }
        do throws(StorageError) {
            guard let lock else { throw StorageError(.busy, folder.path, "no lock", hint: "") }
            // What cannot be read now is not replaced.
            _ = try stored.get()
            try stateFile.write(state.json, under: lock)
            unwritten.withLock { $0 = [:] }
        } catch {
            // Sent twice would be worse than forgotten: what is finished stays so while this process lives, and an address
            // that wants to be left alone is.
            let addresses = state.addresses
            pending.withLock { $0 = $0 + delta }
            unwritten.withLock { $0 = addresses }
            if isFinished { sent.withLock { _ = $0[name.id, default: []].insert(place) } }
        }
        guard isFinished, isLast else { return }
        try? folder.remove(name.text)
        onStep?("removed")
    }
}
