internal import Foundation
internal import FoundationNetworking

// A task that always fails and transfers nothing; see `streamTask(withHostName:port:)`. `@unchecked`: the superclass is
// Sendable in the same way, and the one added property is constant.
final class PinnedStreamTask: URLSessionStreamTask, @unchecked Sendable {
    let loader: TaskLoader

    init(_ loader: TaskLoader) {
        self.loader = loader
        super.init()
        loader.attach(self)
    }

    override var taskIdentifier: Int { loader.identifier }
    override var originalRequest: URLRequest? { loader.originalRequest }
    override var currentRequest: URLRequest? { loader.read(\.request) }
    override var state: URLSessionTask.State { loader.read(\.phase) }
    override var error: (any Error)? { loader.read(\.error) }
    override var delegate: (any URLSessionTaskDelegate)? {
        get { loader.outbox.taskDelegate }
        set { loader.outbox.taskDelegate = newValue }
    }

    override func resume() { loader.resume() }
    override func suspend() { loader.suspend() }
    override func cancel() { loader.cancel() }
}
