import Foundation
import FoundationNetworking

@testable import PintleURLSession

/// A parsed header line parses to the same line when it is printed, and contains no line break. A parsed head makes a
/// response with its challenges. The number of its cookies is bounded. They belong to its server and can be sent.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var head = ResponseHead()
    for line in UnsafeBufferPointer(start: bytes, count: count).split(separator: 0x0A) {
        switch Array(line).withUnsafeBytes({ HeadLine($0) }) {
        case .status(let version, let code):
            guard 100...999 ~= code else { fatalError("\(code) is no status") }
            (head.version, head.status) = (version, code)
        case .field(let name, let value):
            let written = value.isLatin1 ? value.text.latin1Bytes : Array(value.text.utf8)
            let again = (Array("\(name): ".utf8) + written + [0x0D, 0x0A]).withUnsafeBytes { HeadLine($0) }
            guard again == .field(name: name, value: value), !written.contains(where: { $0 == 0 || $0 == 0x0D })
            else { fatalError("\(name): \(value) reads as something else") }
            head.fields.append((name, value))
        case .continuation(let value):
            guard !value.text.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
                fatalError("a line break in \(value)")
            }
            _ = head.unfold(value)
        case .end, nil: break
        }
    }
    checkFraming(of: head)
    guard let url = URL(string: "https://a.example/b"), let response = PinnedHTTPURLResponse(head, url: url) else {
        return 0
    }
    let names = Set(head.fields.map { $0.name.lowercased() })
    let kept = Set(response.allHeaderFields.keys.compactMap { ($0.base as? String)?.lowercased() })
    guard names.subtracting(kept).isSubset(of: ["content-disposition", "content-type"]) else {
        fatalError("fields are lost")
    }
    readChallenges(of: head)
    for address in [
        "https://a.example/b", "https://127.0.0.1/", "https://[2001:db8::1]/", "https://b.a.example./",
        "https://a.co.uk/",
    ] {
        if let url = URL(string: address) { keepCookies(of: head, from: url) }
    }
    return 0
}

/// Checks that an accepted head defines the end of its content in exactly one way, and parses to the same head again.
private func checkFraming(of head: ResponseHead) {
    var framed = head
    let isStream = head.version.hasPrefix("HTTP/2")
    guard framed.checkFraming(isStream: isStream) == nil else { return }
    let lengths = framed.values(of: "content-length")
    let codings = framed.values(of: "transfer-encoding").map { $0.lowercased() }
    guard lengths.count <= 1, lengths.allSatisfy({ Int64($0).map { "\($0)" } == $0 }),
        codings == [] || codings == ["chunked"]
    else { fatalError("\(lengths) and \(codings) say where content ends") }
    guard framed.checkFraming(isStream: isStream) == nil, framed.values(of: "content-length") == lengths else {
        fatalError("\(lengths) reads differently again")
    }
}

private func readChallenges(of head: ResponseHead) {
    guard let server = try? CurlURL("https://a.example/b") else { fatalError("no URL") }
    for offer in AuthenticationOffer.offers(in: head.values(of: "www-authenticate")) {
        let space = offer.protectionSpace(of: server)
        guard space.host == "a.example", space.port == 443 else { fatalError("\(space) is elsewhere") }
        var authorization = Authorization(
            URLCredential(user: "u", password: "p", persistence: .none), for: offer, in: space, at: server)
        _ = authorization.value(for: server, method: "GET")
    }
}

private func keepCookies(of head: ResponseHead, from url: URL) {
    let cookies = head.cookies(for: url)
    guard cookies.count <= ResponseHead.cookieLimit else { fatalError("\(cookies.count) cookies of one response") }
    for cookie in cookies where cookie.name.lowercased().hasPrefix("__host-") {
        guard cookie.isSecure, cookie.path == "/", !cookie.domain.hasPrefix(".") else { fatalError("\(cookie)") }
    }
    guard !cookies.isEmpty, let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { return }
    storage.setCookies(cookies, for: url, mainDocumentURL: nil)
    let sent = HTTPCookie.requestHeaderFields(with: storage.cookies(for: url) ?? [])["Cookie"] ?? ""
    let bytes = HTTPCookie.latin1Field(of: cookies) ?? Array(sent.utf8)
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { fatalError("\(sent) cannot be sent") }
    for other in [
        "https://b.example/", "https://1.0.0.1/", "https://x.example./", "https://[2001:db8::2]/", "https://b.co.uk/",
    ] {
        guard let other = URL(string: other), storage.cookies(for: other) ?? [] == [] else {
            fatalError("cookies of \(url) go to \(other)")
        }
    }
}
