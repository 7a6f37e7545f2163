/// Something that one queue hands to another and touches no more.
///
/// Sendable: of the two queues one at a time has it, because the sender gives up what it sends.
struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
