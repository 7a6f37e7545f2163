internal import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PolicyStore {
    /// Returns the time at which the next update is due.
    public func nextFetch(_ schedule: UpdateSchedule = UpdateSchedule(), at now: Date = Date()) -> Date {
        // An attacker who restored an older update may also have restored the fetch times, which lie in the same
        // folder.
        if active.floor.isUnchecked { reload() }
        let active = active
        return schedule.next(
            after: record.history, expiresAt: active.update?.expiresAt,
            isLost: active.loss != nil || active.floor.isUnchecked || active.isBelowFloor, phase: record.phase,
            jitter: Double.random(in: 0...1), now: now)
    }

    /// Asks for an update if one is due. Call it from time to time, for example when the app comes to the foreground.
    @discardableResult
    public func refreshIfDue(
        from source: UpdateSource, _ schedule: UpdateSchedule = UpdateSchedule(), at now: Date = Date()
    ) async -> UpdateRefresh {
        let next = nextFetch(schedule, at: now)
        return next <= now ? await refresh(from: source, at: now) : .notDue(next: next)
    }

    /// Asks for updates whenever they are due, until the surrounding task is cancelled.
    public func keepFresh(from source: UpdateSource, _ schedule: UpdateSchedule = UpdateSchedule()) async {
        while !Task.isCancelled {
            let now = Date()
            // Wake at least once an hour: the clock may be set, and the machine may sleep.
            let wait = min(max(nextFetch(schedule, at: now).timeIntervalSince(now), 0), 3_600)
            if wait > 0 { try? await Task.sleep(nanoseconds: UInt64(wait * 1e9)) }
            guard !Task.isCancelled else { return }
            if nextFetch(schedule) <= Date() { await refresh(from: source) }
        }
    }

    /// Asks all servers for an update now.
    ///
    /// Concurrent calls are coalesced: a call that arrives during a fetch returns the result of that fetch. If the
    /// transport ignores the cancellation of an earlier request, the fetch waits until that request has ended or the
    /// time-out has passed. After the time-out the result is ``UpdateRefresh/failed``, an event gives the reason, and
    /// no request is sent.
    @discardableResult
    public func refresh(from source: UpdateSource, at now: Date = Date()) async -> UpdateRefresh {
        if let refreshing { return await refreshing.value.result }
        let task = Task {
            let fetched = await fetchAll(source, at: now)
            // Reset before any caller resumes, so that a caller that refreshes again starts a new fetch.
            refreshing = nil
            return fetched
        }
        refreshing = task
        return await task.value.result
    }

    /// Asks for an update because a server showed a key that is not pinned. The server may have a new key, or an
    /// attacker may be intercepting the connection. Rate limit: one such fetch in ten minutes for the whole process,
    /// whichever store asks.
    ///
    /// - Parameters:
    ///   - generation: the generation of the policy that refused the key.
    ///   - source: the addresses to fetch from.
    ///   - now: the current time.
    /// - Returns: `true` if another policy is in force than the one that refused. Retry the connection once in this
    ///   case only.
    public func refreshAfterMismatch(
        refusedBy generation: UInt64, from source: UpdateSource, at now: Date = Date()
    ) async -> Bool {
        // A fetch that began before this mismatch may have sent entity tags and received "not modified".
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

    /// The outcome of one fetch.
    struct Fetched: Sendable {
        let result: UpdateRefresh
        /// A Boolean value that indicates whether entity tags were sent and no update was adopted. A fetch without
        /// entity tags may then have another result.
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
        // Requests of an earlier fetch usually end soon after it. A request that never ends must not block the other
        // servers.
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
            // This counts as a failed attempt, so that the schedule pauses before the next one.
            record.history.lastAttempt = now
            record.history.failures += 1
            saveRecord()
            return Fetched(result: .failed, leavesDoubt: false)
        }
        let before = update?.version
        // A server may use one entity tag for two documents. Send no tags if a newer update is expected, so that every
        // server sends its document.
        let expectsAnother = active.isBelowFloor || update.map { now >= $0.expiresAt } ?? true
        if expectsAnother || record.version != update?.version { record.entityTags = [:] }
        let tags = record.entityTags
        var hasAnswer = false
        var isInGrace = false
        // A task group would wait for a transport that ignores cancellation.
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
            // A server that still has the active update does not rule out a newer one on another server: keep waiting.
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

    /// Adopts the update in an answer. Reports the error if the answer is not valid.
    ///
    /// - Returns: `true` for a valid answer, which is either the active update or a justified "not modified".
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
            // "Not modified" refers to the active update. It does not count if a newer update was adopted before, or if
            // the floor cannot be read.
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

/// The result of asking for an update.
public enum UpdateRefresh: Sendable {
    /// A new update is in force.
    case adopted(VerifiedUpdate)
    /// A server has the same update that is in force.
    case unchanged
    /// No server gave a valid answer. Events give the reasons.
    case failed
    /// No server was asked, because no update is due yet.
    case notDue(next: Date)
}
