import Foundation
import Pintle
import Security

/// The reason why a response is refused when it arrives although its server was not refused.
package enum ArrivalRefusal: Sendable, Hashable {
    /// The request was for `https`, and the response came over `http`.
    case insecureRedirect
    /// The response came over `http` from a host that the policy covers.
    case plainHTTP
    /// The response came over `http` from an address that leads to another host than the one it names.
    case alias(AddressAlias)

    /// The code of the error.
    package var code: URLError.Code {
        switch self {
        case .insecureRedirect, .plainHTTP: .appTransportSecurityRequiresSecureConnection
        case .alias: .badURL
        }
    }
}
