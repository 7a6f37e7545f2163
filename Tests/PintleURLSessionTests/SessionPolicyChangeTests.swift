import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// A policy source that counts how often it is asked, and changes its policy on demand or at a given question.
final class ObservedPolicy: PolicySource {
    private struct State {
        var snapshot: PolicySnapshot
        var questionCount = 0
    }

    private let state: Mutex<State>
    private let change: (question: Int, policy: PinningPolicy)?

    init(_ policy: PinningPolicy, from question: Int = .max, then next: PinningPolicy? = nil) {
        state = Mutex(State(snapshot: PolicySnapshot(policy: policy, generation: 1)))
        change = next.map { (question, $0) }
    }

    var questionCount: Int { state.withLock { $0.questionCount } }

    var current: PolicySnapshot {
        state.withLock { state in
            state.questionCount += 1
            if let change, state.questionCount == change.question {
                state.snapshot = PolicySnapshot(policy: change.policy, generation: 2)
            }
            return state.snapshot
        }
    }

    func replace(with policy: PinningPolicy) {
        state.withLock { $0.snapshot = PolicySnapshot(policy: policy, generation: $0.snapshot.generation + 1) }
    }

    func isAsked(_ count: Int) async -> Bool {
        for _ in 0..<500 where questionCount < count { try? await Task.sleep(for: .milliseconds(10)) }
        return questionCount >= count
    }
}

/// Each request is decided by the policy that is in force when it starts, never by a mix of two.
@Suite("Pinned sessions: another policy")
struct SessionPolicyChangeTests {
    @Test("Another policy applies at once, on connections of its own")
    func replaced() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy, configuration: .ephemeral)
        let first = try await session.data(from: try server.address()).1.trustReceipt
        #expect(first?.generation == 1)
        policy.replace(with: try fixture.policy(rightPin: false))
        let before = server.requestByteCount
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(server.requestByteCount == before)
        let generation = policy.replace(with: try fixture.policy()).generation
        let third = try await session.data(from: try server.address()).1.trustReceipt
        #expect(third?.generation == generation)
        #expect(await server.hasCompletedHandshakes(2))
    }

    @Test("A running transfer ends under the policy that accepted it")
    func running() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy)
        async let running = session.data(from: try server.address())
        #expect(await server.hasRequest())
        policy.replace(with: try fixture.policy(rightPin: false))
        gate.signal()
        #expect(try await running.0.count == 3)
    }

    @Test("If the policy changes during a request, exactly one of the two policies decides", arguments: 1...7)
    func anyMoment(question: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let (right, wrong) = (try fixture.policy(), try fixture.policy(rightPin: false))
        let unchanged = ObservedPolicy(right)
        _ = try await URLSession.pinned(to: unchanged).data(from: try server.address())
        // The session asks when it gets a transport, queues, starts, in the handshake and at the gate before the
        // request.
        #expect(unchanged.questionCount == 5)

        let before = server.requestByteCount
        let tightened = ObservedPolicy(right, from: question, then: wrong)
        do {
            let response = try await URLSession.pinned(to: tightened).data(from: try server.address()).1
            #expect(question > 5)
            #expect(response.trustReceipt?.generation == 1)
        } catch {
            #expect(question <= 5)
            #expect(TrustRejection(underlying: error)?.reason == "pin-mismatch")
            #expect(server.requestByteCount == before)
        }
        // Control: if the first policy would refuse, the request never gets to the gate.
        let loosened = ObservedPolicy(wrong, from: question, then: right)
        do {
            let response = try await URLSession.pinned(to: loosened).data(from: try server.address()).1
            #expect(question <= 4)
            #expect(response.trustReceipt?.matchedPin != nil)
        } catch {
            #expect(question > 4)
            #expect(TrustRejection(underlying: error)?.reason == "pin-mismatch")
        }
    }

    @Test("Plain HTTP that a new policy forbids is refused at any step of a request", arguments: 1...5)
    func plainHTTP(question: Int) async throws {
        let fixture = try SessionFixture()
        let server = try LoopbackTCPServer.http()
        let url = try #require(URL(string: "http://localhost:\(server.port)/"))
        let policy = ObservedPolicy(try fixture.policy(["other.example"]), from: question, then: try fixture.policy())
        // Four questions, as above but without a handshake.
        if question > 4 {
            #expect(try await URLSession.pinned(to: policy).data(from: url).0.count == 3)
        } else {
            let error = await #expect(throws: URLError.self) { try await URLSession.pinned(to: policy).data(from: url) }
            #expect(error?.refusal == .plainHTTP)
        }
    }

    @Test("A request that is repeated because its receipt expired is checked again too", arguments: [true, false])
    func repeated(staysRight: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        // The receipt is expired once, when the gate checks the kept connection.
        let lateLooks = Mutex(0)
        let options = CurlTransport.Options(now: {
            let isLate = lateLooks.withLock { looks in
                defer { looks = max(0, looks - 1) }
                return looks > 0
            }
            return isLate ? .distantFuture : Date()
        })
        // The second request asks four questions up to the gate; the next question comes before it starts again.
        let policy = ObservedPolicy(try fixture.policy(), from: 10, then: try fixture.policy(rightPin: staysRight))
        let session = URLSession.pinned(to: policy, options: options)
        _ = try await session.data(from: try server.address())
        lateLooks.withLock { $0 = 1 }
        if staysRight {
            let receipt = try await session.data(from: try server.address()).1.trustReceipt
            #expect(receipt?.generation == 2)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
            #expect(server.requests.count == 1)
        }
        #expect(lateLooks.withLock { $0 } == 0)
    }

    @Test("A queued request is decided by the policy in force when it starts", arguments: [true, false])
    func queued(staysRight: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server { request in
            if request.target == "/first" { _ = gate.wait(timeout: .now() + 300) }
            return .ok
        }
        let policy = ObservedPolicy(try fixture.policy())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession.pinned(to: policy, configuration: configuration)
        let (firstURL, secondURL) = (try server.address("first"), try server.address("second"))
        let first = Task { try await session.data(from: firstURL) }
        #expect(await server.hasRequest())
        let asked = policy.questionCount
        let second = Task { try await session.data(from: secondURL) }
        // Two questions: for its transport, and when it queues behind the first request.
        #expect(await policy.isAsked(asked + 2))
        policy.replace(with: try fixture.policy(rightPin: staysRight))
        gate.signal()
        #expect(try await first.value.0.count == 3)
        if staysRight {
            #expect(try await second.value.1.trustReceipt?.generation == 2)
            #expect(await server.hasCompletedHandshakes(2))
        } else {
            let error = await #expect(throws: URLError.self) { try await second.value }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
            #expect(server.requests.count == 1)
        }
    }
}
