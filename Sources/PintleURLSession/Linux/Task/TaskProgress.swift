/// The byte counts of a task. An unknown total is `NSURLSessionTransferSizeUnknown` (-1).
struct TaskProgress: Sendable, Equatable {
    var received: Int64 = 0
    var expectedToReceive: Int64 = 0
    var sent: Int64 = 0
    var expectedToSend: Int64 = 0
}
