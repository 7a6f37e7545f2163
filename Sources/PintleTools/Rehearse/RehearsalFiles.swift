internal import Pintle
internal import PintleTestKit

/// The files that a device needs: the roots to trust and the policy.
struct RehearsalFiles: Sendable {
    private let cast: AttackCast
    private let anchorsPEM: String
    private let policy: [UInt8]

    init(_ catalogue: AttackCatalogue, _ kit: RehearsalKit) {
        cast = catalogue.cast
        anchorsPEM = kit.anchorsPEM
        policy = kit.policy.json()
    }

    /// Returns the file of a request, or `nil` if there is none at its path.
    func response(to request: HTTPRequest) -> HTTPResponse? {
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/authorities.pem": Self.file("application/x-pem-file", Array(anchorsPEM.utf8))
        // Browsers of iOS and Android hand certificates of this type to the system.
        case "/authority.crt": Self.file("application/x-x509-ca-cert", cast.authority.certificate.der)
        case "/interceptor.crt": Self.file("application/x-x509-ca-cert", cast.otherAuthority.certificate.der)
        case "/policy.json": Self.file("application/json", policy)
        default: nil
        }
    }

    /// Returns a response that no cache keeps.
    static func file(_ type: String, _ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: 200, reason: "OK",
            fields: [HTTPField("Content-Type", type), HTTPField("Cache-Control", "no-store")], body: bytes)
    }
}
