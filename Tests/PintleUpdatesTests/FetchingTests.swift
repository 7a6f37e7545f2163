import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleStorage
@testable import PintleUpdates

/// A transport that plays servers whose answers the test sets.
private final class TestServers: UpdateTransport {
    enum Behaviour: Sendable {
        case serves([UInt8], tag: String?)
        case fails
        case hangs
        /// Ignores the cancellation of its task.
        case ignoresCancellation
        /// Answers "not modified" to every request.
        case notModified
        case servesLater([UInt8])
        /// Answers "not modified" to any tag after a delay; without a tag it serves the document.
        case liesLater([UInt8])
    }

    struct Down: Error {}

    private let behaviours: Locked<[String: Behaviour]>
    private let requests = Locked<[UpdateRequest]>([])
    let isReleased = Locked(false)
    let hasEnded = Locked(false)

    init(_ behaviours: [String: Behaviour]) {
        self.behaviours = Locked(behaviours)
    }

    func set(_ url: String, _ behaviour: Behaviour) { behaviours.withLock { $0[url] = behaviour } }

    func takeRequests() -> [UpdateRequest] {
        requests.withLock { requests in
            defer { requests = [] }
            return requests
        }
    }

    var isAsked: Bool { requests.withLock { !$0.isEmpty } }

    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
        requests.withLock { $0.append(request) }
        switch behaviours.withLock({ $0[request.url.absoluteString] }) {
        case .serves(let bytes, let tag):
            if let tag, tag == request.entityTag { return .notModified }
            return .document(bytes, entityTag: tag)
        case .notModified: return .notModified
        case .servesLater(let bytes):
            try await Task.sleep(nanoseconds: 300_000_000)
            return .document(bytes, entityTag: nil)
        case .liesLater(let bytes):
            guard request.entityTag != nil else { return .document(bytes, entityTag: nil) }
            try await Task.sleep(nanoseconds: 300_000_000)
            return .notModified
        case .hangs:
            try await Task.sleep(nanoseconds: 600_000_000_000)
            throw Down()
        case .ignoresCancellation:
            while !isReleased.withLock({ $0 }) {
                await Task.detached { try? await Task.sleep(nanoseconds: 10_000_000) }.value
            }
            hasEnded.withLock { $0 = true }
            throw Down()
        case .fails, nil: throw Down()
        }
    }
}

@Suite("Updates are fetched")
struct FetchingTests {
    let scene: StoreScene

    init() throws {
        scene = try StoreScene()
    }

    private func source(_ servers: TestServers, _ urls: String...) throws -> UpdateSource {
        var source = UpdateSource(urls: try urls.map { try #require(URL(string: $0)) }, transport: servers)
        source.graceSeconds = 60
        return source
    }

    @Test("A fetched update comes into force, and the next request sends its entity tag")
    func entityTag() async throws {
        let servers = TestServers(["a": .serves(try scene.update(7), tag: "\"7\"")])
        let store = try scene.open()
        let source = try source(servers, "a")
        guard case .adopted(let update) = await store.refresh(from: source, at: Publication.now) else {
            Issue.record("not adopted")
            return
        }
        #expect(update.version == 7 && store.version == 7)
        #expect(servers.takeRequests().map(\.entityTag) == [nil])
        guard case .unchanged = await store.refresh(from: source, at: Publication.now) else {
            Issue.record("not unchanged")
            return
        }
        #expect(servers.takeRequests().map(\.entityTag) == ["\"7\""])
        // The tag is also sent after a restart, but not after the update is lost.
        _ = await (try scene.open()).refresh(from: source, at: Publication.now)
        #expect(servers.takeRequests().map(\.entityTag) == ["\"7\""])
        scene.remove("update.json")
        let again = try scene.open()
        _ = await again.refresh(from: source, at: Publication.now)
        #expect(servers.takeRequests().map(\.entityTag) == [nil] && again.version == 7)
    }

    @Test("The highest valid update wins, whatever the other servers send and in any order")
    func several() async throws {
        let stranger = try scene.update(99, by: scene.app.stranger)
        let servers = TestServers([
            "a": .serves(try scene.update(7), tag: nil), "b": .serves(try scene.update(8), tag: nil),
            "c": .serves(stranger, tag: nil), "d": .fails,
        ])
        let store = try scene.open()
        _ = try await store.refresh(from: source(servers, "a", "b", "c", "d"), at: Publication.now)
        #expect(store.version == 8)
        #expect(Set(scene.takeEvents()).isSuperset(of: ["adopted 8", "rejected invalid-signature c", "not fetched d"]))
        #expect(try scene.open(.refuse).version == 8)
    }

    @Test("A transport that ignores cancellation does not delay a refresh past its time-out", arguments: [false, true])
    func ignoredCancellation(hasOther: Bool) async throws {
        let servers = TestServers(["a": .ignoresCancellation, "b": .serves(try scene.update(7), tag: nil)])
        var source = try hasOther ? source(servers, "a", "b") : source(servers, "a")
        // Gives the other server time to answer on a busy machine.
        (source.timeoutSeconds, source.graceSeconds) = (hasOther ? 60 : 0.2, 0.01)
        let store = try scene.open()
        let result = await store.refresh(from: source, at: Publication.now)
        // The refresh has ended while the transport still runs.
        #expect(!servers.hasEnded.withLock { $0 })
        switch result {
        case .adopted(let update): #expect(hasOther && update.version == 7)
        case .failed: #expect(!hasOther)
        default: Issue.record("\(result)")
        }
        servers.isReleased.withLock { $0 = true }
    }

    private func expectFailure(of store: PolicyStore, _ source: UpdateSource) async {
        if case .failed = await store.refresh(from: source, at: Publication.now) { return }
        Issue.record("not failed")
    }

    @Test("Requests to a transport that ignores cancellation do not pile up, and fetching resumes once they end")
    func noPile() async throws {
        let servers = TestServers(["a": .ignoresCancellation, "b": .fails])
        var source = try source(servers, "a", "b")
        (source.timeoutSeconds, source.graceSeconds) = (0.01, 0.01)
        let store = try scene.open()
        await expectFailure(of: store, source)
        #expect(servers.takeRequests().count == 2)
        _ = scene.takeEvents()
        let failures = await store.record.history.failures
        for number in 1...20 {
            await expectFailure(of: store, source)
            // It counts as an attempt. Otherwise a schedule would fetch without a pause.
            #expect(await store.record.history.failures == failures + number)
        }
        #expect(servers.takeRequests().map(\.url.absoluteString) == (0..<20).map { _ in "b" })
        #expect(scene.takeEvents() == (0..<20).flatMap { _ in ["not fetched a", "not fetched b"] })
        #expect(!servers.hasEnded.withLock { $0 })
        // If no other server is left, no request is sent.
        var alone = try self.source(servers, "a")
        alone.timeoutSeconds = 0.01
        await expectFailure(of: store, alone)
        #expect(servers.takeRequests().isEmpty && scene.takeEvents() == ["not fetched a"])

        // A waiting refresh continues as soon as the transport ends.
        servers.set("b", .serves(try scene.update(7), tag: nil))
        (source.timeoutSeconds, source.graceSeconds) = (60, 60)
        async let resumed = store.refresh(from: source, at: Publication.now)
        servers.isReleased.withLock { $0 = true }
        guard case .adopted(let update) = await resumed else {
            Issue.record("not adopted")
            return
        }
        #expect(update.version == 7)
        #expect(servers.takeRequests().count == 2)
    }

    @Test("A server that hangs delays neither the other servers nor the time-out")
    func hanging() async throws {
        let servers = TestServers(["a": .hangs, "b": .serves(try scene.update(7), tag: nil)])
        var source = try source(servers, "a", "b")
        source.graceSeconds = 0.01
        let store = try scene.open()
        guard case .adopted = await store.refresh(from: source, at: Publication.now) else {
            Issue.record("not adopted")
            return
        }
        source = try self.source(servers, "a")
        source.timeoutSeconds = 0.01
        await expectFailure(of: store, source)
        #expect(store.version == 7)
    }

    @Test("A server that has only the active update does not end the wait for the others")
    func frozen() async throws {
        let seven = try scene.update(7)
        let servers = TestServers(["a": .serves(seven, tag: nil), "b": .servesLater(try scene.update(8))])
        var source = try source(servers, "a", "b")
        source.graceSeconds = 0.001
        let store = try scene.open()
        try await store.adopt(seven, at: Publication.now)
        guard case .adopted = await store.refresh(from: source, at: Publication.now) else {
            Issue.record("not adopted")
            return
        }
        #expect(store.version == 8)
    }

    @Test("Status 304 is not a valid answer if no entity tag was sent")
    func unaskedNotModified() async throws {
        let servers = TestServers(["a": .notModified])
        let store = try scene.open()
        try await store.adopt(scene.update(7), at: Publication.now)
        _ = scene.takeEvents()
        guard case .failed = try await store.refresh(from: source(servers, "a"), at: Publication.now) else {
            Issue.record("not failed")
            return
        }
        #expect(scene.takeEvents() == ["not fetched a"])
        // Counter-check: after a request with a tag it is valid.
        servers.set("a", .serves(try scene.update(7), tag: "\"7\""))
        _ = try await store.refresh(from: source(servers, "a"), at: Publication.now)
        servers.set("a", .notModified)
        guard case .unchanged = try await store.refresh(from: source(servers, "a"), at: Publication.now) else {
            Issue.record("not unchanged")
            return
        }
    }

    /// With another value, a server or an earlier attacker could block every later update.
    @Test(
        "A value that is not exactly one entity tag is not sent",
        arguments: [
            ("\"7\"", true), ("W/\"7\"", true), ("\"\"", true), ("*", false), ("\"7\", \"8\"", false), ("7", false),
            ("\"7\u{1}\"", false), ("\"7\r\nX: y\"", false), ("\"\u{E9}\"", false), ("w/\"7\"", false), ("\"", false),
            ("\"" + String(repeating: "7", count: 254) + "\"", true),
            ("\"" + String(repeating: "7", count: 255) + "\"", false),
        ])
    func foreignTag(tag: String, isOne: Bool) async throws {
        let servers = TestServers(["a": .serves(try scene.update(7), tag: tag)])
        let store = try scene.open()
        _ = try await store.refresh(from: source(servers, "a"), at: Publication.now)
        // In this process and after a restart.
        for store in [store, try scene.open()] {
            _ = servers.takeRequests()
            _ = try await store.refresh(from: source(servers, "a"), at: Publication.now)
            #expect(servers.takeRequests().map(\.entityTag) == [isOne ? tag : nil])
        }
        servers.set("a", .serves(try scene.update(8), tag: nil))
        _ = try await store.refresh(from: source(servers, "a"), at: Publication.now)
        #expect(store.version == 8)
    }

    @Test("A stored value that is not an entity tag is not sent after a restart", arguments: ["*", "\"7\""])
    func storedTag(tag: String) async throws {
        let servers = TestServers(["a": .serves(try scene.update(7), tag: "\"6\"")])
        _ = try await scene.open().refresh(from: source(servers, "a"), at: Publication.now)
        let file = "\(scene.folder)/fetches.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try text.replacing("\\\"6\\\"", with: tag.replacing("\"", with: "\\\"")).write(
            toFile: file, atomically: true, encoding: .utf8)
        _ = servers.takeRequests()
        _ = try await scene.open().refresh(from: source(servers, "a"), at: Publication.now)
        #expect(servers.takeRequests().map(\.entityTag) == [tag == "*" ? nil : tag])
    }

    @Test(
        "A store that expects another document sends no entity tag",
        arguments: ["fresh", "stale", "mismatch"])
    func lyingTag(case: String) async throws {
        // The server gives the first document the tag of the second.
        let seven = Publication(version: "7", expiresAt: "2026-11-20T12:01:00Z")
        let servers = TestServers(["a": .serves(try seven.signed(by: scene.app.one), tag: "\"8\"")])
        let store = try PolicyStore(
            files: StoreFiles(folder: scene.folder), trust: try scene.app.trust,
            bundled: try Publication.read(scene.app.bundled), mismatchLimit: MismatchLimit())
        let source = try source(servers, "a")
        _ = await store.refresh(from: source, at: Publication.now)
        servers.set("a", .serves(try scene.update(8), tag: "\"8\""))
        if `case` == "mismatch" {
            #expect(
                await store.refreshAfterMismatch(refusedBy: store.current.generation, from: source, at: Publication.now)
            )
        } else {
            let now = Publication.now.addingTimeInterval(`case` == "stale" ? 60 : 59)
            _ = await store.refresh(from: source, at: now)
        }
        #expect(store.version == (`case` == "fresh" ? 7 : 8))
    }

    @Test("After a failure the active update stays and the next fetch waits")
    func due() async throws {
        let servers = TestServers(["a": .fails])
        let store = try scene.open()
        let source = try source(servers, "a")
        guard case .failed = await store.refreshIfDue(from: source, at: Publication.now) else {
            Issue.record("not failed")
            return
        }
        guard case .notDue(let next) = await store.refreshIfDue(from: source, at: Publication.now) else {
            Issue.record("due at once")
            return
        }
        #expect(next > Publication.now && servers.takeRequests().count == 1)
        servers.set("a", .serves(try scene.update(7), tag: nil))
        // The schedule survives a restart.
        let again = try scene.open()
        guard case .notDue = await again.refreshIfDue(from: source, at: Publication.now) else {
            Issue.record("due at once after a restart")
            return
        }
        guard case .adopted = await again.refreshIfDue(from: source, at: next.addingTimeInterval(600)) else {
            Issue.record("not due")
            return
        }
        #expect(again.version == 7)
    }

    @Test("An expired update stays in force with an event, until a newer one is adopted")
    func stale() async throws {
        let store = try scene.open()
        let short = Publication(version: "7", expiresAt: "2026-11-20T12:00:01Z")
        try await store.adopt(short.signed(by: scene.app.one), at: Publication.now)
        let servers = TestServers(["a": .serves(try short.signed(by: scene.app.one), tag: nil)])
        let later = Publication.now.addingTimeInterval(60)
        _ = scene.takeEvents()
        _ = try await store.refresh(from: source(servers, "a"), at: later)
        #expect(scene.takeEvents() == ["stale 7", "rejected expired a"] && store.version == 7)
        servers.set("a", .serves(try scene.update(8), tag: nil))
        _ = try await store.refresh(from: source(servers, "a"), at: later)
        _ = try await store.refresh(from: source(servers, "a"), at: later)
        #expect(scene.takeEvents() == ["stale 7", "adopted 8"])
    }

    @Test("Concurrent refreshes are coalesced into one request")
    func atOnce() async throws {
        let servers = TestServers(["a": .serves(try scene.update(7), tag: nil)])
        let store = try scene.open()
        let source = try source(servers, "a")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await store.refresh(from: source, at: Publication.now) } }
        }
        #expect(store.version == 7 && scene.takeEvents() == ["adopted 7"])
    }

    @Test("After a mismatch, a retry is advised only if another policy came into force")
    func mismatch() async throws {
        let servers = TestServers(["a": .serves(try scene.update(7), tag: nil)])
        let store = try PolicyStore(
            files: StoreFiles(folder: scene.folder), trust: try scene.app.trust,
            bundled: try Publication.read(scene.app.bundled), mismatchLimit: MismatchLimit())
        let source = try source(servers, "a")
        #expect(await store.refreshAfterMismatch(refusedBy: 1, from: source, at: Publication.now))
        #expect(servers.takeRequests().count == 1 && store.current.generation == 2)
        #expect(await store.refreshAfterMismatch(refusedBy: 2, from: source, at: Publication.now) == false)
        #expect(servers.takeRequests().isEmpty)
        // The policy that refused is no longer in force.
        #expect(await store.refreshAfterMismatch(refusedBy: 1, from: source, at: Publication.now))
    }

    @Test("A mismatch during a fetch with entity tags fetches once more without them, but not twice in ten minutes")
    func mismatchMeetsTag() async throws {
        for isAllowed in [true, false] {
            let scene = try StoreScene()
            let servers = TestServers(["a": .serves(try scene.update(7), tag: "\"8\"")])
            let limit = MismatchLimit()
            let store = try PolicyStore(
                files: StoreFiles(folder: scene.folder), trust: try scene.app.trust,
                bundled: try Publication.read(scene.app.bundled), mismatchLimit: limit)
            let source = try source(servers, "a")
            _ = await store.refresh(from: source, at: Publication.now)
            _ = servers.takeRequests()
            if !isAllowed { #expect(limit.allows()) }
            servers.set("a", .liesLater(try scene.update(8)))
            let generation = store.current.generation
            async let first = store.refresh(from: source, at: Publication.now)
            while !servers.isAsked { try await Task.sleep(nanoseconds: 1_000_000) }
            let answers = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        await store.refreshAfterMismatch(refusedBy: generation, from: source, at: Publication.now)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            _ = await first
            #expect(answers == Array(repeating: isAllowed, count: 8))
            #expect(store.version == (isAllowed ? 8 : 7))
            #expect(servers.takeRequests().map(\.entityTag) == (isAllowed ? ["\"8\"", nil] : ["\"8\""]))
        }
    }
}
