internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The content that a task was made with.
enum RequestBody: Sendable {
    case none
    case data(Data)
    case file(URL)
    /// `nil` where the delegate has it.
    case stream(BodyStream?)
    /// What cannot be sent; the task fails with it.
    case refused(SessionRefusal)

    /// Takes the content of the request itself. Empty data counts as no content, as in Foundation: a GET may have it.
    init(of request: URLRequest) {
        if let data = request.httpBody, !data.isEmpty {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            self = .stream(BodyStream(stream))
        } else {
            self = .none
        }
    }
}
