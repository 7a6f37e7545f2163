#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The outcome of asking for an update.
public enum UpdateRefresh: Sendable {
    /// It is in force.
    case adopted(VerifiedUpdate)
    /// A server has the update in force.
    case unchanged
    /// No server had a valid answer; events have the reasons.
    case failed
    /// No server was asked, because no update is due yet.
    case notDue(next: Date)
}
