import Foundation
import FoundationNetworking

@testable import PintleOpenSSL
@testable import PintleURLSession

/// A parsed proxy has a host and a port and does not use TLS. If all hosts are excepted, there is no proxy. The input
/// is the proxy, a line break, and the list of hosts without a proxy.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let proxy = lines.first, let url = try? CurlURL("https://a.example/") else { return 0 }
    let exceptions = lines.dropFirst().first ?? ""
    if let environment = try? ProxyEnvironment(["https_proxy": proxy, "no_proxy": exceptions]) {
        let found = environment.proxy(for: url.endpoint)
        guard found == .none || !proxy.lowercased().hasPrefix("https://") else { fatalError("an https proxy") }
        guard found == .none || !exceptions.split(separator: ",").contains("*") else { fatalError("not excepted") }
        if case .http(let endpoint, _) = found {
            let again = try? ProxyEnvironment(["https_proxy": "http://\(endpoint)"]).proxy(for: url.endpoint)
            guard again == .http(endpoint) else { fatalError("\(endpoint) reads as something else") }
        }
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.connectionProxyDictionary = ["HTTPSProxy": proxy, "HTTPSPort": exceptions.utf8.count]
    if case .http(let endpoint, _)? = try? ProxySetting(configuration).proxy(for: url) {
        guard Int(endpoint.port) == exceptions.utf8.count else { fatalError("another port") }
    }
    return 0
}
