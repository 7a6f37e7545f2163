internal import Foundation
public import Pintle

extension TrustRejection {
    /// The verdict inside what a task threw or handed to its delegate; `nil` where the error is not about
    /// trust: offline, unknown name, timed out.
    ///
    ///     do { _ = try await session.data(from: url) } catch {
    ///         switch TrustRejection(underlying: error) {
    ///         case .pinMismatch(let mismatch): log(mismatch)
    ///         case nil: throw error
    ///         default: showUpdatePrompt()
    ///         }
    ///     }
    public init?(underlying error: any Error) {
        var error = error
        // An error that names itself as its cause must not be followed for ever.
        for _ in 0..<16 {
            if let rejection = error as? TrustRejection {
                self = rejection
                return
            }
            guard let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error else { return nil }
            error = cause
        }
        return nil
    }
}
