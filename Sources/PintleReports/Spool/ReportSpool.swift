internal import Pintle
package import PintleStorage

/// The reports on the disk, each in its own file until it is finished for every address.
///
/// A report's file is written once and removed once; everything that changes is in `state.json`. One lock protects
/// both, so that processes can share a folder. No lock is held while a report is being sent: the sender has a
/// ``DeliveryLease``.
package final class ReportSpool: Sendable {
    /// The result of adding a report.
    package enum Outcome: Sendable, Equatable {
        case kept
        case duplicate
        case hostIsFull
        case isFull
        /// Every address has answered that it accepts no more reports.
        case gone
        case notStored(StorageError)
    }

    package static let maximumPerHost = 8
    package static let maximumInAll = 256
    /// The milliseconds that adding a report waits for the lock. Further events are queued meanwhile.
    private static let patienceOfKeeping = 2_000

    let folder: PrivateFolder
    private let stateFile: DurableFile
    private let deliveryFile: DurableFile
    private let onStep: (@Sendable (String) -> Void)?
    /// The counts that have not been written to the state yet.
    private let pending = Locked(ReportCounts())
    /// A cache of recent keys, so that repeated failures, for example of an interceptor, cause no disk access.
    private let recent = Locked<[String: Milliseconds]>([:])
    /// The reports that this process has sent but could not record on the disk, with the indices of their addresses.
    private let sent = Locked<[String: Set<Int>]>([:])
    /// The addresses' answers that could not be recorded on the disk.
    private let unwritten = Locked<[String: SpoolState.Address]>([:])
    package let draw: Double

    /// - Parameters:
    ///   - path: a folder of its own; created if it does not exist.
    ///   - onStep: called after each step of writing. Tests end the process there.
    package init(folder path: String, onStep: (@Sendable (String) -> Void)? = nil) throws(StorageError) {
        folder = try PrivateFolder(path)
        self.onStep = onStep
        stateFile = Self.file("\(path)/state.json", SpoolState.maximumBytes, onStep)
        deliveryFile = DurableFile("\(path)/delivery", options: .init(maximumSize: 0))
        let lock = try stateFile.lock()
        // An unreadable state is not replaced, because the reason may be temporary.
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

    /// Takes the lease for sending. Its lock is separate from the state's lock, so that reports can be added meanwhile.
    ///
    /// - Throws: `busy` if another process or another call is sending.
    func lease(timeout: Double, at now: Milliseconds) throws(StorageError) -> DeliveryLease {
        try DeliveryLease(deliveryFile, timeout: timeout, at: now, onStep: onStep)
    }

    package var counts: ReportCounts { state().counts + pending.withLock { $0 } }

    func count(_ body: (inout ReportCounts) -> Void) { pending.withLock { body(&$0) } }

    // MARK: Reading

    /// Reads the state; `nil` if there is none, or if it is not valid.
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

    /// Returns the names of the reports, oldest first; empty if the folder cannot be read.
    package func names() -> [SpoolName] {
        (listed() ?? []).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns the names of the reports; `nil` if the folder cannot be read.
    private func listed() -> [SpoolName]? {
        (try? Folder.names(in: folder.path))?.compactMap { SpoolName($0) }
    }

    /// Reads a report. Returns `nil` if the file is missing, cannot be read, or was not written by a spool. An invalid
    /// file is removed.
    func read(_ name: SpoolName) -> SpooledReport? {
        do throws(StorageError) {
            guard let content = try reportFile(name).read() else { return nil }
            if let report = SpooledReport(json: content.bytes) { return report }
        } catch {
            // The file may be intact: for example, the process has no descriptor left.
            guard error.code != .unreadable else { return nil }
        }
        if (try? folder.remove(name.text)) != nil { count { $0.lost += 1 } }
        return nil
    }

    /// Removes expired reports. Does nothing if the lock is not available.
    func dropExpired(at now: Milliseconds) {
        guard names().contains(where: { SpoolState.isExpired($0.createdAt, at: now) }),
            let lock = try? stateFile.lock()
        else { return }
        dropExpired(names(), at: now)
        withExtendedLifetime(lock) {}
    }

    /// Removes expired reports. The caller holds the lock, so that none is counted twice.
    private func dropExpired(_ names: [SpoolName], at now: Milliseconds) {
        for name in names where SpoolState.isExpired(name.createdAt, at: now) {
            if (try? folder.remove(name.text)) != nil { count { $0.expired += 1 } }
        }
    }

    // MARK: Keeping

    /// Returns whether this process has met the same failure within 24 hours. Counts it as a duplicate if so.
    func isKnown(_ key: String, at now: Milliseconds) -> Bool {
        guard recent.withLock({ $0[key] }).map({ SpoolState.isRecent($0, at: now) }) == true else { return false }
        count { $0.duplicates += 1 }
        return true
    }

    func add(_ report: SpooledReport, as name: SpoolName) -> Outcome {
        let outcome: Outcome
        // For a duplicate, `store` replaces this with the time of the earlier report.
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

    /// - Parameter createdAt: set to the time of the earlier report if this one is a duplicate.
    private func store(
        _ report: SpooledReport, _ name: SpoolName, _ createdAt: inout Milliseconds
    ) throws(StorageError) -> Outcome {
        let lock = try stateFile.lock(patience: Self.patienceOfKeeping)
        guard let all = try? Folder.names(in: folder.path) else {
            throw StorageError(
                .unreadable, at: folder.path, message: "its files cannot be counted",
                hint: "keep other files out of the folder")
        }
        // Left over from a process that ended while it wrote. The holder of the lock is the only writer, so they can be
        // removed.
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

    /// Returns whether this process has sent the report to that address but could not record it on the disk.
    func wasSent(_ name: SpoolName, place: Int) -> Bool { sent.withLock { $0[name.id]?.contains(place) } == true }

    /// Removes a report that is finished for every address. An earlier process may have ended before it could.
    func removeIfFinished(_ name: SpoolName, _ report: SpooledReport) -> Bool {
        let finished = state().finished[name.id] ?? []
        guard report.addresses.indices.allSatisfy({ finished.contains($0) || wasSent(name, place: $0) }) else {
            return false
        }
        try? folder.remove(name.text)
        return true
    }

    /// Records that an address is finished with a report, or that it must be retried later.
    ///
    /// Writes the state before it removes the file, so that a process that ends between the two does not cause a second
    /// sending.
    ///
    /// - Parameter change: changes the state, and returns whether the address is finished with the report.
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
        // `nil` if the folder cannot be read: then keep the records, because the reports may still exist.
        let spooled = listed().map { Set($0.map(\.id)) }
        state.prune(at: now, spooled: spooled)
        if let spooled { sent.withLock { $0 = $0.filter { spooled.contains($0.key) } } }
        do throws(StorageError) {
            guard let lock else { throw StorageError(.busy, at: folder.path, message: "no lock", hint: "") }
            // Throws if the state could not be read, so that it is not replaced.
            _ = try stored.get()
            try stateFile.write(state.json, under: lock)
            unwritten.withLock { $0 = [:] }
        } catch {
            // Keep the result in memory. A report must not be sent twice while this process lives, and an address that
            // asked for a pause must get it.
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
