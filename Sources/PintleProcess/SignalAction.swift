package import PintleSystem

extension sigaction {
    /// An action that calls `handler`, without SA_RESTART, so that a call that waits returns.
    package init(calling handler: @escaping @convention(c) (CInt) -> Void) {
        self.init()
        #if canImport(Darwin)
        __sigaction_u.__sa_handler = handler
        #else
        __sigaction_handler.sa_handler = handler
        #endif
    }

    /// A Boolean value that indicates whether the action is SIG_IGN.
    package var isIgnored: Bool {
        // SIG_IGN is the number 1, not a function, in the place of the handler.
        #if canImport(Darwin)
        withUnsafeBytes(of: __sigaction_u) { $0.loadUnaligned(as: Int.self) } == 1
        #else
        withUnsafeBytes(of: __sigaction_handler) { $0.loadUnaligned(as: Int.self) } == 1
        #endif
    }
}
