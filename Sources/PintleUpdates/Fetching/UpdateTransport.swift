/// Fetches updates. The module itself opens no connection.
///
/// `PintleURLSession` has one that trusts what the system trusts and no policy. It must be so: the signature protects an
/// update, and a broken pin must not keep its own remedy away.
public protocol UpdateTransport: Sendable {
    /// Asks a server once. Ends soon after its task is cancelled.
    ///
    /// - Parameter request: the server and the limits of the answer.
    /// - Throws: whatever kept the server from answering with a document, or with more than ``UpdateRequest/maximumBytes``
    ///   while they were read.
    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse
}
