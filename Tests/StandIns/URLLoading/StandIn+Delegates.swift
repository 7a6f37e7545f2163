public import Security

extension StandIn {
    /// A closure that replaces the delegate of each session that the current task makes, as libraries do that replace
    /// the session's initializer.
    @TaskLocal public static var replacement: (@Sendable ((any URLSessionDelegate)?) -> (any URLSessionDelegate)?)?

    /// A Boolean value that indicates whether `flush` closes the connections of a session that the current task makes,
    /// as Apple documents. The code of several releases of the system keeps them, so the default is the worse case.
    @TaskLocal public static var flushClosesConnections = false

    /// The methods of the delegate protocols of sessions, by their names in Objective-C.
    public static var sessionDelegateSelectors: Set<String> {
        Set(OptionalMethod.all.map(\.selector.name).filter { $0.hasPrefix("URLSession") })
    }
}
