import Foundation
import FoundationNetworking

@testable import PintleURLSession

/// A line that is read says the same when it is read again, and holds no line break; a head makes a response,
/// whose cookies, if there are any, are for its server.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var head = ResponseHead()
    for line in UnsafeBufferPointer(start: bytes, count: count).split(separator: 0x0A) {
        switch Array(line).withUnsafeBytes({ HeadLine($0) }) {
        case .status(let version, let code):
            guard 100...999 ~= code else { fatalError("\(code) is no status") }
            (head.version, head.status) = (version, code)
        case .field(let name, let value):
            let again = Array("\(name): \(value)\r\n".utf8).withUnsafeBytes { HeadLine($0) }
            guard again == .field(name: name, value: value), !value.utf8.contains(where: { $0 == 0 || $0 == 0x0D })
            else { fatalError("\(name): \(value) reads as something else") }
            head.fields.append((name, value))
        case .continuation(let value):
            guard !value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
                fatalError("a line break in \(value)")
            }
            _ = head.unfold(value)
        case .end, nil: break
        }
    }
    guard let url = URL(string: "https://a.example/b"), let response = PinnedHTTPURLResponse(head, url: url) else {
        return 0
    }
    guard response.allHeaderFields.count == Set(head.fields.map { $0.name.lowercased() }).count else {
        fatalError("fields are lost")
    }
    for cookie in head.cookies(for: url) where cookie.name.contains("\n") { fatalError("a line in a cookie's name") }
    return 0
}
