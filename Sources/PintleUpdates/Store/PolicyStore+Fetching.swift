internal import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PolicyStore {
    /// When the next update is due.
    public func nextFetch(_ schedule: UpdateSchedule = UpdateSchedule(), at now: Date = Date()) -> Date {
        // The times lie beside the update, and whoever has put one back can have put back the others.
        if active.floor.isUnchecked { reload() }
        let active = active
        return schedule.next(
            after: record.history, expiresAt: active.update?.expiresAt,
            isLost: active.loss != nil || active.floor.isUnchecked || active.isBelowFloor, phase: record.phase,
            jitter: Double.random(in: 0...1), now: now)
    }

    /// Asks for an update if one is due: for whoever is called now and then, such as when an app comes to the front.
    @discardableResult
    public func refreshIfDue(
        from source: UpdateSource, _ schedule: UpdateSchedule = UpdateSchedule(), at now: Date = Date()
    ) async -> UpdateRefresh {
        let next = nextFetch(schedule, at: now)
        return next <= now ? await refresh(from: source, at: now) : .notDue(next: next)
    }

    /// Asks for updates when they are due, until its task is cancelled.
    public func keepFresh(from source: UpdateSource, _ schedule: UpdateSchedule = UpdateSchedule()) async {
        while !Task.isCancelled {
            let now = Date()
            // Looked at again each hour at the latest: clocks are set, and machines sleep.
            let wait = min(max(nextFetch(schedule, at: now).timeIntervalSince(now), 0), 3_600)
            if wait > 0 { try? await Task.sleep(nanoseconds: UInt64(wait * 1e9)) }
            guard !Task.isCancelled else { return }
            if nextFetch(schedule) <= Date() { await refresh(from: source) }
        }
    }

    /// Asks all servers for an update now.
    ///
    /// A call while another one runs gets the same answer. A transport that goes on after its task was cancelled is waited
    /// for: until it has ended, or the time-out has passed. In the second case the result is ``UpdateRefresh/failed``, an
    /// event says why, and nothing is asked.
    @discardableResult
    public func refresh(from source: UpdateSource, at now: Date = Date()) async -> UpdateRefresh {
        if let refreshing { return await refreshing.value.result }
        let task = Task {
            let fetched = await fetchAll(source, at: now)
            // Before anybody learns of it: who asks then, asks anew.
            refreshing = nil
            return fetched
        }
        refreshing = task
        return await task.value.result
    }

    /// Asks for an update because a server showed a key that is not pinned: it may have a new one, or somebody sits in
    /// between. At most once in ten minutes of a process, whatever store it is for.
    ///
    /// - Parameter generation: of the policy that refused.
    /// - Returns: whether another policy is in force than the one that refused: then, and only then, try once more.
    public func refreshAfterMismatch(
        refusedBy generation: UInt64, from source: UpdateSource, at now: Date = Date()
    ) async -> Bool {
        // Who asked before this mismatch may have asked by a tag, and been told that nothing has changed.
        if current.generation == generation, let fetched = await refreshing?.value, !fetched.leavesDoubt {
            return current.generation != generation
        }
        guard current.generation == generation else { return true }
        if refreshing == nil {
            guard mismatchLimit.allows() else { return false }
            record.entityTags = [:]
        }
        await refresh(from: source, at: now)
        return current.generation != generation
    }

    // MARK: All servers at once

    /// What came of one fetch.
    struct Fetched: Sendable {
        let result: UpdateRefresh
        /// Whether entity tags were sent and nothing was adopted: without them the answer may be another one.
        let leavesDoubt: Bool
    }

    private enum Answer: Sendable {
        case response(URL, UpdateResponse)
        case failure(URL, String)
        case timeUp
    }

    private func fetchAll(_ source: UpdateSource, at now: Date) async -> Fetched {
        reload()
        reportIfStale(at: now)
        // Requests of an earlier fetch end soon after it. One that never does keeps no other server from being asked.
        let areAllOpen = openRequests.count(among: source.urls) == source.urls.count
        let patience = areAllOpen ? source.timeoutSeconds : min(source.graceSeconds, source.timeoutSeconds)
        await openRequests.waitUntilNone(among: source.urls) { _ = await Self.sleep(patience) }
        var urls: [URL] = []
        for url in source.urls {
            if openRequests.begin(url) {
                urls.append(url)
            } else {
                onEvent(
                    .notFetched(from: url.absoluteString, description: "the transport has not ended an earlier request")
                )
            }
        }
        guard !urls.isEmpty else {
            // It counts as an attempt, so that the schedule leaves a pause before the next one.
            record.history.lastAttempt = now
            record.history.failures += 1
            saveRecord()
            return Fetched(result: .failed, leavesDoubt: false)
        }
        let before = update?.version
        // A tag is the server's word, and may be that of another document. Whoever has reason to expect one asks for it.
        let expectsAnother = active.isBelowFloor || update.map { now >= $0.expiresAt } ?? true
        if expectsAnother || record.version != update?.version { record.entityTags = [:] }
        let tags = record.entityTags
        var hasAnswer = false
        var isInGrace = false
        // Not a task group: it would wait for a transport that does not end when its task is cancelled.
        let (answers, mailbox) = AsyncStream<Answer>.makeStream()
        let priority = Task.currentPriority
        var tasks = urls.map { url in
            let request = UpdateRequest(
                url: url, entityTag: tags[url.absoluteString], maximumBytes: SignedEnvelope.maximumBytes,
                timeoutSeconds: source.timeoutSeconds)
            return Task.detached(priority: priority) { [openRequests] in
                let answer = await Self.ask(source.transport, request)
                openRequests.end(url)
                mailbox.yield(answer)
            }
        }
        tasks.append(Task.detached(priority: priority) { _ = mailbox.yield(await Self.sleep(source.timeoutSeconds)) })
        var open = urls.count
        var inbox = answers.makeAsyncIterator()
        while open > 0, let answer = await inbox.next() {
            if case .timeUp = answer { break }
            open -= 1
            guard process(answer, askedWith: tags, at: now) else { continue }
            hasAnswer = true
            // A server that has only the update in force says nothing about the other servers: wait for them.
            guard !isInGrace, update?.version != before else { continue }
            isInGrace = true
            tasks.append(Task.detached(priority: priority) { _ = mailbox.yield(await Self.sleep(source.graceSeconds)) })
        }
        for task in tasks { task.cancel() }
        mailbox.finish()
        record.history.lastAttempt = now
        record.history.failures = hasAnswer ? 0 : record.history.failures + 1
        if hasAnswer { record.history.lastSuccess = now }
        record.version = update?.version ?? 0
        saveRecord()
        if let update, update.version != before { return Fetched(result: .adopted(update), leavesDoubt: false) }
        return Fetched(result: hasAnswer ? .unchanged : .failed, leavesDoubt: !tags.isEmpty)
    }

    private static func ask(_ transport: any UpdateTransport, _ request: UpdateRequest) async -> Answer {
        do {
            return .response(request.url, try await transport.fetch(request))
        } catch {
            return .failure(request.url, "\(error)")
        }
    }

    private static func sleep(_ seconds: Double) async -> Answer {
        try? await Task.sleep(nanoseconds: UInt64((seconds > 0 ? min(seconds, 86_400) : 0) * 1e9))
        return .timeUp
    }

    /// Adopts the update of an answer, and reports what is wrong with it.
    ///
    /// - Returns: `true` for a valid answer: an update that is active now, or that nothing has changed.
    private func process(_ answer: Answer, askedWith tags: [String: String], at now: Date) -> Bool {
        switch answer {
        case .timeUp: return false
        case .failure(let url, let description):
            onEvent(.notFetched(from: url.absoluteString, description: description))
            return false
        case .response(let url, .notModified):
            guard tags[url.absoluteString] != nil else {
                onEvent(.notFetched(from: url.absoluteString, description: "status 304, and no entity tag was sent"))
                return false
            }
            // What is below the floor, or cannot be held against it, is not what a server has.
            return active.isAtFloor
        case .response(let url, .document(let bytes, let entityTag)):
            do {
                let adopted = try adopt(bytes, at: now)
                if record.version != adopted.version { record.entityTags = [:] }
                record.version = adopted.version
                record.entityTags[url.absoluteString] = entityTag.flatMap { EntityTag.isOne($0) ? $0 : nil }
                return true
            } catch {
                if case .rejected(let rejection) = error { onEvent(.rejected(rejection, from: url.absoluteString)) }
                return false
            }
        }
    }

    private func reportIfStale(at now: Date) {
        guard let update, now >= update.expiresAt else { return }
        onEvent(.stale(version: update.version, since: update.expiresAt))
    }
}
