internal import Pintle
internal import PintleOpenSSL

/// The values that were parsed last, by their text.
struct RecentlyParsed<Value> {
    private static var capacity: Int { 16 }
    /// A longer text is parsed again each time, so that memory stays bounded.
    private static var longestText: Int { 1 << 20 }

    private var entries: [(text: ArraySlice<UInt8>, value: Value)] = []

    mutating func value<Failure: Error>(
        of json: JSONValue, make: (JSONValue) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let text = json.source
        if let known = entries.firstIndex(where: { $0.text == text }) {
            // The newest entry is the last.
            if known != entries.count - 1 { entries.append(entries.remove(at: known)) }
            return entries[entries.count - 1].value
        }
        let value = try make(json)
        if text.count <= Self.longestText {
            if entries.count == Self.capacity { entries.removeFirst() }
            // A copy, because the slice would keep the whole line in memory.
            entries.append((ArraySlice(Array(text)), value))
        }
        return value
    }
}
