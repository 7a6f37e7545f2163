/// A table of values for objects that it does not keep alive.
///
/// An `ObjectIdentifier` is an address, which another object may get once the first is freed. So an entry is valid only
/// for the object that it was made for.
struct WeakTable<Object: AnyObject & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        weak var object: Object?
        let value: Value
        let number: Int
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    private var lastNumber = 0
    /// The number of entries that stay when the table shrinks. It removes entries of freed objects first, then the
    /// oldest. It shrinks only when it exceeds this number by an eighth, so that a full table is not searched for each
    /// new entry.
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    subscript(object: Object) -> Value? {
        get {
            guard let entry = entries[ObjectIdentifier(object)], entry.object === object else { return nil }
            return entry.value
        }
        set {
            guard let newValue else {
                entries[ObjectIdentifier(object)] = nil
                return
            }
            lastNumber += 1
            entries[ObjectIdentifier(object)] = Entry(object: object, value: newValue, number: lastNumber)
            if entries.count > capacity + capacity / 8 { shrink() }
        }
    }

    /// Removes and returns the value of an object.
    mutating func removeValue(for object: Object) -> Value? {
        defer { self[object] = nil }
        return self[object]
    }

    private mutating func shrink() {
        entries = entries.filter { $0.value.object != nil }
        let surplus = entries.count - capacity
        guard surplus > 0 else { return }
        for oldest in entries.sorted(by: { $0.value.number < $1.value.number }).prefix(surplus) {
            entries[oldest.key] = nil
        }
    }
}
