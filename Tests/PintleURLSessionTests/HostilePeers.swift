import Testing

/// Servers, proxies and networks that attack a pinned session. Each test has a control that differs only in the attack.
///
/// `swift test --filter HostilePeers` runs all of them. A suite of this kind is nested here by an extension.
@Suite("Hostile peers")
enum HostilePeers {}
