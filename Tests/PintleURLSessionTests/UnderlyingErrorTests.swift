import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// Errors as libraries wrap them, and the verdicts that `TrustRejection(underlying:)` finds inside.
@Suite("The verdict inside a library's error")
struct UnderlyingErrorTests {
    /// The shape of Alamofire's error.
    private enum AFError: Error {
        enum ServerTrustFailureReason {
            case noPublicKeysFound
            case customEvaluationFailed(error: any Error)
            case trustEvaluationFailed(error: (any Error)?)
        }

        case sessionTaskFailed(error: any Error)
        case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
        case multipartFailed(at: URL, error: any Error)
        case explicitlyCancelled
    }

    /// The shape of the error of Swift OpenAPI Runtime.
    private struct ClientError: Error {
        var operationID = "getGreeting"
        var operationInput: any Sendable = [[UInt8]](repeating: [1, 2, 3], count: 1_000)
        var request: URLRequest?
        var response: String?
        var causeDescription = "Transport threw an error."
        var underlyingError: any Error
    }

    private struct ContextError: Error {
        struct Context {
            var path: [String] = []
            var underlyingError: (any Error)?
        }

        let context: Context
    }

    private struct AttemptsError: Error {
        let attempts: [Int: any Error]
    }

    // `@unchecked`: the tests set `cause` before they use the error.
    private class ReferenceError: Error, @unchecked Sendable {
        var cause: (any Error)?
    }

    // `@unchecked`: the superclass is Sendable in the same way.
    private final class SubclassError: ReferenceError, @unchecked Sendable {
        let note = "a subclass"
    }

    /// An error whose cause is a new error of the same kind, and so on without end.
    private struct EndlessError: CustomNSError {
        var errorUserInfo: [String: Any] { [NSUnderlyingErrorKey: EndlessError()] }
    }

    private struct CountedDescription: LocalizedError {
        let counter: Counter
        let cause: any Error
        var errorDescription: String? {
            counter.count.withLock { $0 += 1 }
            return "described"
        }
    }

    private final class Counter: Sendable {
        let count = Locked(0)
    }

    private static let rejection = TrustRejection.invalidPath(PathFailure(.expired, text: "expired"))

    private static let wrappers: [(name: String, wrap: @Sendable (any Error) -> any Error)] = [
        ("the error itself", { $0 }),
        ("URLError", { URLError(.secureConnectionFailed, userInfo: [NSUnderlyingErrorKey: $0]) }),
        ("NSError", { NSError(domain: "a", code: 1, userInfo: [NSUnderlyingErrorKey: $0]) }),
        (
            "several causes",
            { NSError(domain: "a", code: 1, userInfo: ["NSMultipleUnderlyingErrorsKey": [URLError(.timedOut), $0]]) }
        ),
        ("AFError.sessionTaskFailed", { AFError.sessionTaskFailed(error: $0) }),
        ("a payload of a payload", { AFError.serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: $0)) }),
        ("an optional payload", { AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: $0)) }),
        ("one of two payloads", { AFError.multipartFailed(at: URL(fileURLWithPath: "/"), error: $0) }),
        ("ClientError", { ClientError(underlyingError: $0) }),
        ("a struct inside an error", { ContextError(context: .init(underlyingError: $0)) }),
        ("a dictionary", { AttemptsError(attempts: [1: URLError(.timedOut), 2: $0]) }),
        (
            "a class",
            { error in
                let result = SubclassError()
                result.cause = error
                return result
            }
        ),
        ("Result", { WrappedResult(result: .failure($0)) }),
        (
            "ten levels",
            { error in
                (0..<5).reduce(error) { cause, _ in
                    AFError.sessionTaskFailed(error: ClientError(underlyingError: cause))
                }
            }
        ),
    ]

    private struct WrappedResult: Error {
        let result: Result<Int, any Error>
    }

    @Test("A verdict is found in every wrapper, and an unrelated error in the same wrapper has none", arguments: 0..<14)
    func wrapped(index: Int) throws {
        let (name, wrap) = try #require(Self.wrappers.dropFirst(index).first)
        let failed = URLError(.secureConnectionFailed, userInfo: [NSUnderlyingErrorKey: Self.rejection])
        #expect(TrustRejection(underlying: wrap(failed))?.reason == "invalid-path", "\(name)")
        #expect(TrustRejection(underlying: wrap(Self.rejection))?.reason == "invalid-path", "\(name)")
        let offline = URLError(.notConnectedToInternet, userInfo: [NSUnderlyingErrorKey: URLError(.timedOut)])
        #expect(TrustRejection(underlying: wrap(offline)) == nil, "\(name)")
    }

    @Test("Errors without a cause hold no verdict")
    func none() {
        #expect(TrustRejection(underlying: AFError.explicitlyCancelled) == nil)
        #expect(TrustRejection(underlying: AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound)) == nil)
        #expect(TrustRejection(underlying: CancellationError()) == nil)
        #expect(Self.wrappers.count == 14)
    }

    @Test("A cycle of errors ends the search, and a verdict beside the cycle is still found")
    func cycle() {
        let (first, second) = (ReferenceError(), ReferenceError())
        (first.cause, second.cause) = (second, first)
        #expect(TrustRejection(underlying: first) == nil)
        #expect(TrustRejection(underlying: EndlessError()) == nil)
        second.cause = AttemptsError(attempts: [1: first, 2: Self.rejection])
        #expect(TrustRejection(underlying: first)?.reason == "invalid-path")
        second.cause = nil
    }

    @Test("The search ends after 16 levels, and finds a verdict one level before")
    func depth() {
        func nested(_ count: Int) -> any Error {
            (0..<count).reduce(Self.rejection as any Error) { cause, _ in
                NSError(domain: "a", code: 1, userInfo: [NSUnderlyingErrorKey: cause])
            }
        }
        #expect(TrustRejection(underlying: nested(16))?.reason == "invalid-path")
        #expect(TrustRejection(underlying: nested(17)) == nil)
    }

    @Test("The search computes no description of an error")
    func descriptions() {
        let counter = Counter()
        let error = CountedDescription(counter: counter, cause: Self.rejection)
        #expect(TrustRejection(underlying: error)?.reason == "invalid-path")
        #expect(counter.count.withLock { $0 } == 0)
    }
}
