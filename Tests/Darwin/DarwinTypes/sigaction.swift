// The declarations repeat those that Swift derives from macOS's headers, with their optional pointers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals, NeverForceUnwrap

public typealias sigset_t = UInt32

public struct __sigaction_u: Sendable {
    public var __sa_handler: (@convention(c) (Int32) -> Void)!
    public init() {}
}

public struct sigaction: Sendable {
    public var __sigaction_u = DarwinTypes.__sigaction_u()
    public var sa_mask: sigset_t = 0
    public var sa_flags: Int32 = 0
    public init() {}
}

public struct rlimit: Sendable {
    public var rlim_cur: UInt64 = 0
    public var rlim_max: UInt64 = 0
    public init() {}
}
