@testable import Pintle

/// A parsed host or address is canonical. A printed endpoint parses to the same endpoint.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let name = try? ServerName(text) {
        guard let again = try? ServerName(name.description), again == name, again.ipAddress == name.ipAddress,
            again.description == name.description, name.description.utf8.allSatisfy({ $0 < 0x80 })
        else { fatalError("\(name) reads as something else") }
    }
    if let address = IPAddress(text) {
        guard IPAddress(address.description) == address else { fatalError("\(address) reads as something else") }
    }
    for endpoint in [ServerEndpoint(text), ServerEndpoint(httpsURL: text)].compactMap(\.self) {
        guard ServerEndpoint(endpoint.description) == endpoint,
            ServerEndpoint(httpsURL: "https://\(endpoint)/") == endpoint
        else { fatalError("\(endpoint) reads as something else") }
    }
    return 0
}
