internal import Foundation
internal import PintleEvents

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// The `URLProtocol` classes in a configuration that come neither from the system nor from this package.
///
/// Debugging tools replace the getters of `URLSessionConfiguration`, and so add a `URLProtocol` to every configuration
/// of an app. Such a class carries requests over sessions of its own, past the pins.
struct ForeignProtocols: Sendable, Hashable {
    /// The names of the classes, in the order of the configuration.
    let names: [String]
    /// A Boolean value that indicates whether the session's own configuration is free of these classes.
    let isRemoved: Bool

    /// - Parameters:
    ///   - configuration: The configuration that the caller passed.
    ///   - copy: The cleared copy that the session uses.
    init(in configuration: URLSessionConfiguration, removedFrom copy: URLSessionConfiguration) {
        let left = Self.names(copy.protocolClasses)
        names = Self.names(configuration.protocolClasses)
        // A tool that has replaced the getter also changes what the copy returns.
        isRemoved = left.isEmpty
    }

    /// Returns the names of the classes that are not the system's own. A configuration may list the system's classes
    /// too.
    private static func names(_ classes: [AnyClass]?) -> [String] {
        (classes ?? []).filter { !isSystem($0) }.map { String(reflecting: $0) }
    }

    private static func isSystem(_ kind: AnyClass) -> Bool {
        #if canImport(Darwin)
        return Bundle(for: kind).bundleIdentifier?.hasPrefix("com.apple.") ?? false
        #else
        let name = String(reflecting: kind)
        return name.hasPrefix("FoundationNetworking.") || name.hasPrefix("PintleURLSession.")
        #endif
    }

    /// Reports the classes to an observer, if there are any.
    func report(to observer: (any TrustEventObserver)?) {
        guard let observer, let event else { return }
        TrustEventFeed.shared.post(.session(event), to: observer)
    }

    private var event: SessionEvent? {
        guard !names.isEmpty else { return nil }
        let list = names.joined(separator: ", ")
        return SessionEvent(
            .foreignProtocol, classes: names, isResolved: isRemoved,
            text: isRemoved
                ? "the session does not use loaders of its configuration that carry requests past the pins: \(list)"
                : "loaders that carry requests past the pins cannot be removed from the configuration: \(list)")
    }
}
