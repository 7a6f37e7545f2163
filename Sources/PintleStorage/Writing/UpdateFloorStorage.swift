/// A place for a copy of the floor of updates that outlives the store's folder. The other copy is a file in the folder.
///
/// The higher one of the two copies counts, and only a verified update raises the one outside. So the loss of one copy lets no
/// older update in, and replacing the folder gains an attacker nothing. While the place cannot be read, the update that the
/// folder had when the store was opened is in force; it gives way once the floor is read and is above it.
///
/// Called from any thread, by one process at a time for each folder. Two folders must not share one place, or each would
/// find its own update below the other's floor.
public protocol UpdateFloorStorage: Sendable {
    /// Returns the bytes that were saved last, at most 4 KiB.
    ///
    /// - Parameter keySetID: names the keys that the app trusts, in lower-case hexadecimal. Under other keys there is
    ///   another floor.
    /// - Returns: `nil` where there certainly is none.
    /// - Throws: where the place cannot be read at this moment. The store then takes no update.
    func floor(under keySetID: String) throws(StorageError) -> [UInt8]?

    /// Replaces the floor. Returns once the end of the process cannot lose it.
    ///
    /// - Parameters:
    ///   - floor: the bytes to save, at most 4 KiB.
    ///   - keySetID: as in ``floor(under:)``.
    /// - Throws: where the place cannot be written. The store then does not adopt the update.
    func save(_ floor: [UInt8], under keySetID: String) throws(StorageError)
}
