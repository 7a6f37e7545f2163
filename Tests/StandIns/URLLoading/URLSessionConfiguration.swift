internal import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    // Names of header fields that copies of a configuration keep, and that no request sends.
    private static let earlyData = "standin-early-data"

    /// A Boolean value that indicates whether a request may be sent before the handshake ends. Foundation's class for
    /// Linux has no such property.
    public var enablesEarlyData: Bool {
        get { httpAdditionalHeaders?[Self.earlyData] as? Bool ?? false }
        set {
            var fields = httpAdditionalHeaders ?? [:]
            fields[Self.earlyData] = newValue
            httpAdditionalHeaders = fields
        }
    }
}
