#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The milliseconds since 1970, limited to the years for which dates can be written.
package struct Milliseconds: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let count: Int64

    private static let last: Int64 = 253_402_300_799_999

    package init(_ date: Date) {
        let count = (date.timeIntervalSince1970 * 1_000).rounded(.down)
        self.count = count.isNaN ? 0 : Int64(min(max(count, 0), Double(Self.last)))
    }

    /// Creates a time; `nil` outside of those years.
    package init?(_ count: Int64?) {
        guard let count, 0...Self.last ~= count else { return nil }
        self.count = count
    }

    /// The start of 1970.
    static let zero = Milliseconds(Date(timeIntervalSince1970: 0))

    package var date: Date { Date(timeIntervalSince1970: Double(count) / 1_000) }
    package var description: String { "\(count)" }

    package static func < (left: Milliseconds, right: Milliseconds) -> Bool { left.count < right.count }
}
