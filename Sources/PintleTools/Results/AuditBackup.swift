/// The state of a rule's backup pins at a server.
enum AuditBackup: String {
    /// The rule has no backup pin.
    case absent = "none"
    /// The server shows no backup key.
    case unused
    /// The server shows a backup's key or certificate beside one of the pins.
    case inUse = "in-use"
    /// The server has moved to a backup key.
    case matched
}
