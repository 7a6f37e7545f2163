import Security

/// A configuration that callers cannot reach, without loaders beside the system's and without a cache.
///
/// Sendable: nothing changes it, and others get copies.
final class ClearedConfiguration: @unchecked Sendable {
    private let configuration: URLSessionConfiguration
    let foreignProtocols: ForeignProtocols

    init(_ configuration: URLSessionConfiguration) {
        let copy = Self.copy(of: configuration)
        // The system's own loaders need no place in the list.
        copy.protocolClasses = []
        // It may hold answers of servers that no policy, or an earlier one, has judged.
        copy.urlCache = nil
        // A request would leave before the handshake is over, on the word of an earlier one.
        if #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) { copy.enablesEarlyData = false }
        self.configuration = copy
        foreignProtocols = ForeignProtocols(in: configuration, removedFrom: copy)
    }

    var isForBackground: Bool { configuration.identifier != nil }

    var copy: URLSessionConfiguration { Self.copy(of: configuration) }

    private static func copy(of configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.copy() as? URLSessionConfiguration ?? configuration
    }
}
