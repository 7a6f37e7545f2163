public import Security

extension StandIn {
    /// A closure that replaces the delegate of each session that the current task makes, as libraries do that replace
    /// the session's initializer.
    @TaskLocal public static var replacement: (@Sendable ((any URLSessionDelegate)?) -> (any URLSessionDelegate)?)?

    /// The methods of the delegate protocols of sessions, by their names in Objective-C.
    public static var sessionDelegateSelectors: Set<String> {
        Set(OptionalMethod.all.map(\.selector.name).filter { $0.hasPrefix("URLSession") })
    }
}
