import Foundation

/// A private copy of a configuration, without foreign `URLProtocol` classes and without a cache.
///
/// Sendable: nothing changes it after `init`, and other code gets copies.
final class ClearedConfiguration: @unchecked Sendable {
    private let configuration: URLSessionConfiguration
    let foreignProtocols: ForeignProtocols

    init(_ configuration: URLSessionConfiguration) {
        let copy = Self.copy(of: configuration)
        // The system's own classes do not have to be in the list.
        copy.protocolClasses = []
        // The cache may hold responses of servers that no policy, or only an earlier policy, has checked.
        copy.urlCache = nil
        // With early data a request would be sent before the handshake ends, based on an earlier verdict.
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
