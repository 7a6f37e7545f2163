// The declarations of Foundation that the core uses. They are only for the compiler: nothing runs.
public typealias TimeInterval = Double

public struct Date: Sendable, Hashable, Comparable {
    public let timeIntervalSince1970: Double
    public init() { timeIntervalSince1970 = 0 }
    public init(timeIntervalSince1970 seconds: Double) { timeIntervalSince1970 = seconds }
    public init(timeIntervalSinceReferenceDate seconds: Double) { timeIntervalSince1970 = seconds }
    public func timeIntervalSince(_ other: Date) -> Double { 0 }
    public static let distantPast = Date()
    public static let distantFuture = Date()
    public static func + (left: Date, right: Double) -> Date { left }
    public static func < (left: Date, right: Date) -> Bool { left.timeIntervalSince1970 < right.timeIntervalSince1970 }
}

public struct URL: Sendable, Hashable {
    public var absoluteString: String { "" }
}

public protocol LocalizedError: Error {
    var errorDescription: String? { get }
}

public final class NSLock: Sendable {
    public init() {}
    public func lock() {}
    public func unlock() {}
}
