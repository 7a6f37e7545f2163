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
            if let newValue { insert(newValue, for: object) } else { entries[ObjectIdentifier(object)] = nil }
        }
    }

    /// Sets the value of an object.
    ///
    /// - Returns: The objects that the table had to load. A caller with a lock releases them after it has left the
    ///   lock, because its reference may be the last. `deinit` of an app's object may need the same lock.
    @discardableResult
    mutating func insert(_ value: Value, for object: Object) -> [Object] {
        lastNumber += 1
        entries[ObjectIdentifier(object)] = Entry(object: object, value: value, number: lastNumber)
        return entries.count > capacity + capacity / 8 ? shrink() : []
    }

    /// Removes and returns the value of an object.
    mutating func removeValue(for object: Object) -> Value? {
        defer { self[object] = nil }
        return self[object]
    }

    private mutating func shrink() -> [Object] {
        var loaded: [Object] = []
        entries = entries.filter { entry in
            guard let object = entry.value.object else { return false }
            loaded.append(object)
            return true
        }
        let surplus = entries.count - capacity
        guard surplus > 0 else { return loaded }
        for oldest in entries.sorted(by: { $0.value.number < $1.value.number }).prefix(surplus) {
            entries[oldest.key] = nil
        }
        return loaded
    }
}
