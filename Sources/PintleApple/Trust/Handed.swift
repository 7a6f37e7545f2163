/// A value that one queue passes to another and does not use any more.
///
/// Sendable: only one of the two queues uses the value at a time, because the sender gives it up.
struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
