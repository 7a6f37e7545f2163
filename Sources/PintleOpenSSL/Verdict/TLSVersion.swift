// swift-format-ignore: AlwaysUseLowerCamelCase
/// The supported versions of TLS. Older ones cannot be enabled (RFC 8996).
package enum TLSVersion: UInt16, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// TLS 1.2, RFC 5246.
    case v1_2 = 0x0303
    /// TLS 1.3, RFC 8446.
    case v1_3 = 0x0304

    /// `TLS 1.2`, `TLS 1.3`.
    package var description: String {
        switch self {
        case .v1_2: "TLS 1.2"
        case .v1_3: "TLS 1.3"
        }
    }

    /// Returns `true` if the first version is older.
    package static func < (first: TLSVersion, second: TLSVersion) -> Bool { first.rawValue < second.rawValue }
}
