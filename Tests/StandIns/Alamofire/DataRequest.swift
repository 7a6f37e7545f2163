import Foundation

/// One request. It starts when its data is requested.
///
/// `@unchecked`: the state that changes is used only on the session's root queue.
public final class DataRequest: @unchecked Sendable {
    private let convertible: any URLConvertible
    private let session: Session
    private var isValidated = false
    private var data = Data()
    private var outcome: Result<Data, AFError>?
    private var failure: AFError?
    private var waiting: [CheckedContinuation<Data, any Error>] = []

    init(_ convertible: any URLConvertible, _ session: Session) {
        self.convertible = convertible
        self.session = session
    }

    /// Requires a status from 200 to 299.
    public func validate() -> Self {
        session.rootQueue.async { self.isValidated = true }
        return self
    }

    public func serializingData() -> DataTask<Data> {
        session.rootQueue.async {
            do {
                self.session.start(self, try self.convertible.asURL())
            } catch {
                self.finish(.sessionTaskFailed(error: error))
            }
        }
        return DataTask { try await self.received() }
    }

    private func received() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            session.rootQueue.async {
                if let outcome = self.outcome { return continuation.resume(with: outcome) }
                self.waiting.append(continuation)
            }
        }
    }

    func didFail(_ error: AFError) { failure = error }

    func didReceive(_ data: Data) { self.data.append(data) }

    /// Checks the status if no other error came before.
    func didComplete(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        var failure = failure ?? error.map { $0 as? AFError ?? .sessionTaskFailed(error: $0) }
        if failure == nil, isValidated, let code = response?.statusCode, !(200..<300).contains(code) {
            failure = .responseValidationFailed(reason: .unacceptableStatusCode(code: code))
        }
        finish(failure)
    }

    private func finish(_ failure: AFError?) {
        let outcome = failure.map { Result.failure($0) } ?? .success(data)
        self.outcome = outcome
        for continuation in waiting { continuation.resume(with: outcome) }
        waiting = []
    }
}
