/// Where a store of updates keeps its floor beside the file in its folder: a place that outlives the folder.
///
/// Of two floors the higher one counts, and only an update that was verified raises the one outside. So what is lost in
/// one place does not let older updates in, and whoever can replace the folder has gained nothing. While the place cannot
/// be read, what the folder had at the start is in force; it gives way as soon as the floor is read and is above it.
///
/// Called from any thread, by one process at a time for each folder: two folders must not share one place, or each would
/// find its own update below the other's floor.
public protocol UpdateFloorStorage: Sendable {
    /// What was kept last, at most 4 KiB.
    ///
    /// - Parameter keySetID: names the keys that the app trusts, in lower-case hexadecimal. Under other keys there is
    ///   another floor.
    /// - Returns: `nil` where there certainly is none.
    /// - Throws: where nobody can tell at this moment. No update is taken then.
    func floor(under keySetID: String) throws(StorageError) -> [UInt8]?

    /// Keeps a floor in the place of the last one; on return the end of the process does not lose it.
    func keep(_ floor: [UInt8], under keySetID: String) throws(StorageError)
}
