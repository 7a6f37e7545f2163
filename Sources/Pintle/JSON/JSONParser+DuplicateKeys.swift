extension JSONParser {
    /// Throws if the object at `container` has the same key twice. Readers disagree on which of the two values counts,
    /// so an attacker who writes the file could show two readers two different policies.
    ///
    /// It takes linear time: Swift seeds the hashes of a set at random, so an attacker cannot make keys collide.
    func refuseDuplicateKeys(in container: Int) throws(JSONError) {
        var seen: Set<ArraySlice<UInt8>> = []
        seen.reserveCapacity(nodes[container].count)
        var index = container + 1
        while index < Int(nodes[container].next) {
            guard seen.insert(key(at: index)).inserted else { throw duplicate(index, in: container) }
            index = self.index(after: index)
        }
    }

    /// Returns the index of the next key, or that of the end of the object. The `next` of a key is the index of its
    /// value, and the `next` of the value is the next key.
    private func index(after index: Int) -> Int { Int(nodes[Int(nodes[index].next)].next) }

    private func key(at index: Int) -> ArraySlice<UInt8> {
        let node = nodes[index]
        let raw = bytes[Int(node.start) + 1..<Int(node.end) - 1]
        return node.hasEscapes ? JSONEscapes.decode(raw)[...] : raw
    }

    private func duplicate(_ later: Int, in container: Int) -> JSONError {
        let name = key(at: later)
        var earlier = container + 1
        while key(at: earlier) != name { earlier = index(after: earlier) }
        let first = place(at: Int(nodes[earlier].start))
        let text = String(decoding: name.prefix(64), as: UTF8.self)
        return error(
            .duplicateKey, at: Int(nodes[later].start), "the key \(JSONWriter.quoted(text)) stands here again",
            hint: "it is at \(first.line):\(first.column) already; keep one of them")
    }
}
