public struct kevent: Sendable {
    public var ident: UInt = 0
    public var filter: Int16 = 0
    public var flags: UInt16 = 0
    public var fflags: UInt32 = 0
    public var data: Int = 0
    // A pointer that only the caller uses.
    nonisolated(unsafe) public var udata: UnsafeMutableRawPointer?
    public init() {}
}
