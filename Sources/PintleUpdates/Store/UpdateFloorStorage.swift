public import PintleStorage

/// A storage for a copy of the update floor that outlives the store's folder. The other copy is a file in the folder.
///
/// The higher copy counts, and only a verified update raises the outside copy. So an attacker cannot activate an older
/// update by deleting one copy or by replacing the folder. While the storage cannot be read, the update that was in the
/// folder when the store was opened is in force. Once the floor is read and is above that update, the update is
/// withdrawn.
///
/// Called from any thread, but by only one process at a time for each folder. Do not use one storage for two folders:
/// each would find its own update below the other's floor.
public protocol UpdateFloorStorage: Sendable {
    /// Returns the bytes that were saved last, at most 4 KiB.
    ///
    /// - Parameter keySetID: identifies the keys that the app trusts, in lower-case hexadecimal. Each set of keys has
    ///   its own floor.
    /// - Returns: `nil` if there is certainly no floor.
    /// - Throws: if the storage cannot be read at this moment. The store then adopts no update.
    func floor(forKeySet keySetID: String) throws(StorageError) -> [UInt8]?

    /// Replaces the floor. Returns when the end of the process can no longer lose it.
    ///
    /// - Parameters:
    ///   - floor: the bytes to save, at most 4 KiB.
    ///   - keySetID: as in ``floor(forKeySet:)``.
    /// - Throws: if the storage cannot be written. The store then does not adopt the update.
    func save(_ floor: [UInt8], forKeySet keySetID: String) throws(StorageError)
}
