/// An index of the distinct terms of a policy's rules, which finds equal terms while the policy is built.
///
/// Each of its slots holds 32 bits of a hash, and the place of the terms plus one, or 0 if it is empty. A dictionary
/// would hold a second copy of all terms, and would hash all of them again each time that it grows.
struct TermsIndex {
    private var slots = [UInt64](repeating: 0, count: 64)
    private var count = 0

    /// Returns the place of equal terms. If there are none, it returns the number of terms and adds that place, and the
    /// caller appends the terms.
    ///
    /// - Parameters:
    ///   - terms: the terms to find.
    ///   - known: the distinct terms, in the order in which they were added.
    mutating func place(of terms: borrowing HostTerms, in known: borrowing [CompiledTerms]) -> Int {
        // The table is at most half full, so that probing ends soon.
        if 2 * count >= slots.count { grow() }
        // The hash is random for each process, so an attacker cannot craft terms whose hashes collide.
        var hasher = Hasher()
        terms.hash(into: &hasher)
        let tag = UInt64(UInt32(truncatingIfNeeded: hasher.finalize()))
        var slot = home(of: tag)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == tag {
                let place = Int(slots[slot] & 0xFFFF_FFFF) - 1
                if known[place].terms == terms { return place }
            }
            slot = slot + 1 == slots.count ? 0 : slot + 1
        }
        count += 1
        slots[slot] = tag << 32 | UInt64(count)
        return count - 1
    }

    private func home(of tag: UInt64) -> Int {
        Int(truncatingIfNeeded: (tag &* UInt64(slots.count)) >> 32)
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: 4 * old.count)
        for entry in old where entry != 0 {
            var slot = home(of: entry >> 32)
            while slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
            slots[slot] = entry
        }
    }
}
