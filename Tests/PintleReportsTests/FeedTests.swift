import FoundationEssentials
import Glibc
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleEvents
@testable import PintleReports

@Suite("The feed of failures")
struct FeedTests {
    private let scene: ReportScene

    init() throws {
        scene = try ReportScene()
    }

    @Test("Posting does not wait for an observer, and events beyond the limit are dropped and counted")
    func bounded() async throws {
        let feed = TrustEventFeed()
        let gate = Locked(true)
        struct Slow: TrustEventObserver {
            let gate: Locked<Bool>
            let seen = Locked(0)
            func observe(_ event: TrustEvent) {
                while gate.withLock({ $0 }) { usleep(1_000) }
                seen.withLock { $0 += 1 }
            }
        }
        let observer = Slow(gate: gate)
        let event = TrustEvent.update(UpdateEvent(.stale, text: ""))
        for _ in 0..<400 { feed.post(event, to: observer) }
        #expect(feed.dropped >= 400 - TrustEventFeed.capacity - 1)
        gate.withLock { $0 = false }
        await feed.waitForEvents()
        #expect(observer.seen.withLock { $0 } + feed.dropped == 400)
        // The feed continues.
        feed.post(event, to: observer)
        await feed.waitForEvents()
        #expect(observer.seen.withLock { $0 } + feed.dropped == 401)
    }

    @Test("Queued events keep a bounded amount of certificates")
    func weight() async throws {
        let feed = TrustEventFeed()
        let gate = Locked(true)
        struct Slow: TrustEventObserver {
            let gate: Locked<Bool>
            func observe(_ event: TrustEvent) { while gate.withLock({ $0 }) { usleep(1_000) } }
        }
        let names = (0..<2_000).map { "host-number-\($0).example.com" }
        let large = try scene.authority.issue(hosts: names).certificate.der
        let (plain, heavy) = (try scene.failure(), try scene.failure(extra: Array(repeating: large, count: 4)))
        let observer = Slow(gate: gate)
        for _ in 0..<TrustEventFeed.capacity { feed.post(.verdict(plain), to: observer) }
        #expect(feed.dropped == 0)
        gate.withLock { $0 = false }
        await feed.waitForEvents()
        gate.withLock { $0 = true }
        for _ in 0..<TrustEventFeed.capacity { feed.post(.verdict(heavy), to: observer) }
        let dropped = feed.dropped
        #expect(dropped > 0)
        gate.withLock { $0 = false }
        await feed.waitForEvents()
        feed.post(.verdict(heavy), to: observer)
        await feed.waitForEvents()
        #expect(feed.dropped == dropped)
    }

    @Test("Every observer gets all events in order")
    func order() async throws {
        let (one, two) = (TrustEventRecorder(), TrustEventRecorder())
        let both = TrustEventObservers(one, two)
        for number in 0..<100 {
            TrustEventFeed.shared.post(.update(UpdateEvent(.stale, version: number, text: "")), to: both)
        }
        await one.waitForEvents()
        for recorder in [one, two] {
            let versions = recorder.events.compactMap { event -> Int? in
                if case .update(let event) = event { event.version } else { nil }
            }
            #expect(versions == Array(0..<100))
        }
    }

    @Test("An observed evaluator gives the same verdicts and sends its failures")
    func evaluator() async throws {
        let policy = try scene.policy()
        let path = ValidatedPath(uncheckedLeafToAnchor: scene.identity.chain + [scene.authority.certificate.der])
        let recorder = TrustEventRecorder()
        let plain = ServerTrustEvaluator(policy: policy) { _ in .valid(path) }
        let observed = plain.observed(by: recorder)
        let server = ServerEndpoint(host: try ServerName("example.com"))
        let chain = scene.identity.chain
        #expect(observed.evaluate(server, presented: chain, at: ReportScene.now).decision.reason == "pin-mismatch")
        #expect(plain.evaluate(server, presented: chain, at: ReportScene.now).decision.reason == "pin-mismatch")
        await recorder.waitForEvents()
        #expect(recorder.reports.map(\.reason) == ["pin-mismatch"] && recorder.events.map(\.level) == [.error])
        #expect(recorder.events.first?.description.hasPrefix("example.com:443 refused, pin-mismatch: ") == true)
        recorder.removeAll()
        let other = ServerEndpoint(host: try ServerName("example.org"))
        #expect(observed.evaluate(other, presented: chain, at: ReportScene.now).decision.reason == "host-not-allowed")
        await recorder.waitForEvents()
        // An event without a report, because no rule names an address.
        #expect(recorder.events.count == 1 && recorder.reports.isEmpty)
    }

    @Test("A matching pin, an unpinned host and an approval send no event")
    func quiet() throws {
        let policy = try scene.policy()
        let failure = try scene.failure(by: policy)
        func event(of decision: TrustDecision) -> VerdictEvent? {
            let old = failure.evaluation
            let evaluation = TrustEvaluation(
                endpoint: old.endpoint, decision: decision, rule: old.rule, presented: old.presented, path: old.path)
            return VerdictEvent(evaluation, by: policy, at: ReportScene.now)
        }
        let leaf = scene.identity.chain[0]
        let pin = Pin(.certificate(CertificatePin(certificate: leaf)))
        let approval = try TrustApproval(
            .certificate(CertificatePin(certificate: leaf)), for: failure.endpoint, at: ReportScene.now)
        for basis in [
            .hostNotPinned, .pinMatched(PinMatch(pin: pin, depth: 0, isBackup: true)), .userApproved(approval),
        ] as [TrustBasis] { #expect(event(of: .trusted(basis)) == nil, "\(basis)") }
        #expect(event(of: failure.decision) != nil)
    }

    @Test("A log line has its level and no line break")
    func log() throws {
        let lines = Locked<[String]>([])
        let log = TrustEventLog { level, line in lines.withLock { $0.append("\(level.rawValue) \(line)") } }
        log.observe(.verdict(try scene.failure(by: scene.policy(enforcement: .reportOnly))))
        log.observe(
            .update(UpdateEvent(.rejected, reason: "rollback", source: "https://u.example/", text: "rollback")))
        let kept = lines.withLock { $0 }
        #expect(kept[0].hasPrefix("warning example.com:443 let in, mismatch-reported-only: "))
        #expect(kept[1] == "error policy update from https://u.example/ rejected: rollback")
        #expect(!kept.contains { $0.contains("\n") })
    }
}
