import FoundationEssentials
import Glibc
import Pintle
import PintleOpenSSL
import PintleTestKit
import Synchronization
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleTLSClient
@testable import PintleTools

/// A verdict runs inside OpenSSL and cannot be interrupted. The audit ends anyway.
@Suite("The time limit of an audit holds during a long verdict")
struct AuditTimeLimitTests {
    private let scene: AuditFixture
    private let server: LoopbackTLSServer

    init() throws {
        scene = try AuditFixture()
        server = try LoopbackTLSServer(scene.identity)
    }

    /// A verdict that takes as long as a test wants.
    private final class DelayedVerdict: Sendable {
        private struct State {
            var isReleased = false
            var begun = 0
            var ended = 0
        }

        private let state = Mutex(State())
        var begun: Int { state.withLock(\.begun) }
        var ended: Int { state.withLock(\.ended) }

        func release() { state.withLock { $0.isReleased = true } }

        /// - Parameter first: the first verdict that waits until the test releases it, counted from 1.
        func hold(from first: Int = 1) {
            let number = state.withLock { state in
                state.begun += 1
                return state.begun
            }
            while number >= first, !state.withLock(\.isReleased) { usleep(1_000) }
            state.withLock { $0.ended += 1 }
        }
    }

    private func handshakes(
        _ slow: DelayedVerdict, holds: Bool, names: [String] = ["a", "b"]
    ) throws -> (AuditHandshakes, AuditTargets) {
        _ = try scene.policy()
        let policy = try PinningPolicy(json: Array(scene.read("policy.json").utf8))
        let list = try scene.list(names.map { ("\($0).audit.test", server.port) })
        let file = try InputFile(list, standardInput: ByteSource([]))
        let root = try Certificate(der: scene.root.certificate.der)
        var handshakes = AuditHandshakes(
            policy: policy, hasPolicyFile: true,
            lint: LiveLint(
                LintedPolicy(
                    policy: policy, json: [], authority: { _ in nil },
                    families: .init(date: .distantPast, families: [], edges: [])),
                now: Date()),
            basis: AuditBasis(policy: nil, anchors: [root]),
            validator: PathValidator(system: SystemAnchors(replacedBy: [root])),
            proxies: try ProxyEnvironment([:]), configuration: TLSClient.Configuration(), parallel: 1, start: Date())
        if holds { handshakes.beforeVerdict = { slow.hold() } }
        let targets = try AuditTargets(
            named: [], lists: [AuditHostList(file)], policy: policy, connectTo: nil, shard: .all)
        return (handshakes, targets)
    }

    @Test("A survey ends during a verdict and keeps the results so far")
    func slow() throws {
        let slow = DelayedVerdict()
        defer { slow.release() }
        let (handshakes, targets) = try handshakes(slow, holds: true)
        var lines = 0
        let isDone = try handshakes.run(targets.remaining(after: [])) { (_: [UInt8]) throws(ToolError) in
            lines += 1
        } goesOn: {
            slow.begun == 0
        }
        #expect(!isDone)
        #expect((slow.begun, slow.ended) == (1, 0))
        #expect(lines == 0)
        #expect(AuditThread.isAnyLeftBehind)
    }

    @Test("A verdict that returns in time leaves nothing behind, and the survey asks every server")
    func quick() throws {
        let slow = DelayedVerdict()
        slow.release()
        let (handshakes, targets) = try handshakes(slow, holds: true)
        var lines: [String] = []
        let isDone = try handshakes.run(targets.remaining(after: [])) { (line: [UInt8]) throws(ToolError) in
            lines.append(String(decoding: line, as: UTF8.self))
        } goesOn: {
            true
        }
        #expect(isDone)
        #expect((slow.begun, slow.ended) == (2, 2))
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("pin-matched") }, "\(lines)")
    }

    /// The result handler stops the survey when `held` verdicts have begun and the last of them still runs.
    @Test("Every server that has a result when the survey stops keeps it, and a resumed survey asks only the others")
    func stoppedWithResults() throws {
        let slow = DelayedVerdict()
        var (handshakes, targets) = try handshakes(slow, holds: false, names: (0..<12).map { "h\($0)" })
        let held = 7
        handshakes.beforeVerdict = { slow.hold(from: held) }
        var known: Set<AuditKey> = []
        var isFirst = true
        let isDone = try handshakes.run(targets.remaining(after: [])) { (line: [UInt8]) throws(ToolError) in
            known.insert(try self.key(line))
            // More results arrive while the handler is busy with the first one.
            while isFirst, slow.begun < held { usleep(1_000) }
            isFirst = false
        } goesOn: {
            guard !isFirst else { return true }
            slow.release()
            return false
        }
        #expect(!isDone)
        #expect(known.count == held && slow.begun == held, "\(known.count) results of \(slow.begun) servers")
        let isResumedDone = try handshakes.run(targets.remaining(after: known)) { (line: [UInt8]) throws(ToolError) in
            known.insert(try self.key(line))
        } goesOn: {
            true
        }
        #expect(isResumedDone)
        #expect(known.count == 12 && slow.begun == 12, "\(known.count) results of \(slow.begun) servers")
    }

    private func key(_ line: [UInt8]) throws(ToolError) -> AuditKey {
        do {
            return try AuditRecord(Array(line.dropLast())).server.key
        } catch {
            throw .unusable("unreadable-result", error.message)
        }
    }

    @Test("An error of the result handler ends the survey, which throws it")
    func failingTaker() throws {
        let slow = DelayedVerdict()
        slow.release()
        let (handshakes, targets) = try handshakes(slow, holds: true)
        #expect(throws: ToolError.self) {
            try handshakes.run(targets.remaining(after: [])) { (_: [UInt8]) throws(ToolError) in
                throw .unusable("disk-full", "the disk is full")
            } goesOn: {
                true
            }
        }
    }
}
