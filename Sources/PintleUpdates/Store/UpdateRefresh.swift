#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The result of asking for an update.
public enum UpdateRefresh: Sendable {
    /// A new update is in force.
    case adopted(VerifiedUpdate)
    /// A server has the same update that is in force.
    case unchanged
    /// No server gave a valid answer. Events give the reasons.
    case failed
    /// No server was asked, because no update is due yet.
    case notDue(next: Date)
}
