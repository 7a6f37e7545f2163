internal import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    // Fields that copies take along, and that no request carries.
    private static let earlyData = "standin-early-data"

    /// A Boolean value that indicates whether a request may be sent before the handshake is over. Foundation's class for Linux
    /// has no such property.
    public var enablesEarlyData: Bool {
        get { httpAdditionalHeaders?[Self.earlyData] as? Bool ?? false }
        set {
            var fields = httpAdditionalHeaders ?? [:]
            fields[Self.earlyData] = newValue
            httpAdditionalHeaders = fields
        }
    }
}
