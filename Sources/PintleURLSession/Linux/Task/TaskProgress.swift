/// The byte counts of a task. Totals are `NSURLSessionTransferSizeUnknown` (-1) where they are not known.
struct TaskProgress: Sendable, Equatable {
    var received: Int64 = 0
    var expectedToReceive: Int64 = 0
    var sent: Int64 = 0
    var expectedToSend: Int64 = 0
}
