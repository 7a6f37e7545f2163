/// Fetches updates. The module itself opens no connection.
///
/// `PintleURLSession` has a transport that trusts the system's roots and applies no pinning policy. This is deliberate:
/// the signature protects an update, and a wrong pin must not block the update that corrects it.
public protocol UpdateTransport: Sendable {
    /// Asks a server once. Ends soon after its task is cancelled.
    ///
    /// - Parameter request: the server and the limits of the answer.
    /// - Returns: the document, or "not modified".
    /// - Throws: any error that kept the server from answering with a document, or an answer that is longer than
    ///   ``UpdateRequest/maximumBytes``.
    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse
}
