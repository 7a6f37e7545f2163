extension JSONParser {
    /// Throws if the object at `container` has the same key twice. Readers disagree on which of the two values counts,
    /// so an attacker who writes the file could show two readers two different policies.
    ///
    /// It takes linear time: small objects are compared pairwise, larger ones with a hash table whose seed an attacker
    /// cannot know.
    func refuseDuplicateKeys(in container: Int) throws(JSONError) {
        let count = nodes[container].count
        guard count > 1 else { return }
        if count <= 8 {
            try comparePairwise(container)
        } else {
            try compareHashed(container, count: count)
        }
    }

    private func key(after index: Int) -> Int {
        // The `next` of a key is the index of its value. The `next` of the value is the next key or the end of the
        // object.
        Int(nodes[Int(nodes[index].next)].next)
    }

    private func comparePairwise(_ container: Int) throws(JSONError) {
        let end = Int(nodes[container].next)
        var later = key(after: container + 1)
        while later < end {
            var earlier = container + 1
            while earlier < later {
                if isSameKey(earlier, later) { throw duplicate(earlier, later) }
                earlier = key(after: earlier)
            }
            later = key(after: later)
        }
    }

    private func compareHashed(_ container: Int, count: Int) throws(JSONError) {
        let end = Int(nodes[container].next)
        // The table is at most half full, so that probing ends. A slot holds a key's index, or 0 for empty: no key has
        // index 0.
        let mask = (1 << (Int.bitWidth - (2 * count).leadingZeroBitCount)) - 1
        var slots = [UInt32](repeating: 0, count: mask + 1)
        var index = container + 1
        while index < end {
            var slot = hash(of: index) & mask
            while slots[slot] != 0 {
                let earlier = Int(slots[slot])
                if isSameKey(earlier, index) { throw duplicate(earlier, index) }
                slot = (slot + 1) & mask
            }
            slots[slot] = UInt32(truncatingIfNeeded: index)
            index = key(after: index)
        }
    }

    private func content(of node: JSONTape.Node) -> ArraySlice<UInt8> {
        let raw = bytes[Int(node.start) + 1..<Int(node.end) - 1]
        return node.hasEscapes ? JSONEscapes.decode(raw)[...] : raw
    }

    private func isSameKey(_ left: Int, _ right: Int) -> Bool {
        let (left, right) = (nodes[left], nodes[right])
        guard left.hasEscapes || right.hasEscapes else {
            guard right.end &- right.start == left.end &- left.start else { return false }
            // Compare including the quotes, which are always equal.
            let bytes = bytes.elementSpan.bytes
            let key = bytes.extracting(Int(left.start)..<Int(left.end))
            return key.hasSameBytes(from: 0, as: bytes, from: Int(right.start))
        }
        return content(of: left).elementsEqual(content(of: right))
    }

    private func hash(of index: Int) -> Int {
        var hasher = Hasher()
        content(of: nodes[index]).withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    private func duplicate(_ earlier: Int, _ later: Int) -> JSONError {
        let first = place(at: Int(nodes[earlier].start))
        let name = String(decoding: content(of: nodes[later]).prefix(64), as: UTF8.self)
        return error(
            .duplicateKey, at: Int(nodes[later].start), "the key \(JSONWriter.quoted(name)) stands here again",
            hint: "it is at \(first.line):\(first.column) already; keep one of them")
    }
}
