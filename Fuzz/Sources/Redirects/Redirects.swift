import Foundation
import FoundationNetworking

@testable import PintleURLSession

/// A parsed URL parses to the same URL from its parts. A redirect never leaves https, and sends no credentials for one
/// origin to another origin, as libcurl parses both.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let url = try? CurlURL(text) {
        let parts = "\(url.scheme)://\(url.endpoint)/"
        guard (try? CurlURL(parts))?.hasSameOrigin(as: url) == true else { fatalError("\(parts) reads as another") }
    }
    for base in ["https://a.example/b/c?d", "http://a.example:8080/", "https://[2001:db8::1]/"] {
        guard let url = URL(string: base), let from = try? CurlURL(base),
            let response = HTTPURLResponse(
                url: url, statusCode: 307, httpVersion: "HTTP/1.1", headerFields: ["Location": text])
        else { fatalError("\(base) cannot be read") }
        var request = URLRequest(url: url)
        for name in ["Authorization", "Cookie", "Host", "X-Kept"] { request.setValue("x", forHTTPHeaderField: name) }
        guard let next = (try? Redirect.request(after: response, to: request)) ?? nil,
            let address = next.url?.absoluteString, let to = try? CurlURL(address)
        else { continue }
        guard from.scheme == .http || to.scheme == .https else { fatalError("\(text) leaves https") }
        let fields = Set((next.allHTTPHeaderFields ?? [:]).keys)
        guard fields == (to.hasSameOrigin(as: from) ? ["Authorization", "Cookie", "Host", "X-Kept"] : ["X-Kept"])
        else { fatalError("\(fields) goes to \(address)") }
    }
    return 0
}
