// Authenticates the client with a certificate, at servers that the policy has judged.

#if canImport(PintleURLSession) && canImport(FoundationNetworking)
import Foundation
import PintleURLSession

func load(_ url: URL, by policy: PinningPolicy, certificates: Data, key: Data) async throws -> Data {
    // snippet.session
    let api = try ServerEndpoint(url: url)
    let identity = try ClientIdentity(certificates: certificates, key: key) {
        ProcessInfo.processInfo.environment["CLIENT_KEY_PASSWORD"]
    }
    let session = URLSession.pinned(to: policy) { server in
        server == api ? identity : nil
    }
    do {
        let (data, response) = try await session.data(from: url)
        print(response.clientCertificateUse as Any)
        return data
    } catch let error as URLError where error.code == .clientCertificateRequired {
        let reason = error.userInfo[NSUnderlyingErrorKey] as? SessionError
        print(reason?.clientCertificateRequest?.authorities as Any)
        throw error
    }
    // snippet.end
}
#endif
