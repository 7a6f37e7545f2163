internal import Foundation

/// A cookie as a `Set-Cookie` field writes it (RFC 6265bis section 5.6).
///
/// Foundation's parser is not used: it ignores `Max-Age`, reads few forms of dates, and traps on some bytes.
struct SetCookie {
    let name: String
    let value: String
    /// The attribute's value; `nil` if it is missing or empty, so that the cookie is for its server only.
    private(set) var domain: String?
    /// The attribute's value, or `/` if that is no path. It is `nil` without the attribute.
    private(set) var path: String?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// The date from which the cookie is not sent; `nil` for a cookie of the session. `Max-Age` overrides `Expires`.
    var expiry: Date? { age ?? expires }
    private var age: Date?
    private var expires: Date?

    /// The longest time in seconds that a cookie is kept: 400 days (RFC 6265bis section 5.5).
    static let longestAge = 400 * 86_400
    /// The limit in bytes of an attribute's value. Attributes beyond it are ignored.
    private static let attributeLimit = 1_024

    /// Returns `nil` if the cookie has no name.
    init?(_ text: Substring, at now: Date) {
        var parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst().map(Self.pair), let value = pair.value, !pair.name.isEmpty else { return nil }
        (name, self.value) = (pair.name, value)
        for part in parts {
            let attribute = Self.pair(part)
            let value = attribute.value ?? ""
            guard value.utf8.count <= Self.attributeLimit else { continue }
            // If an attribute repeats, the last one counts.
            switch attribute.name.lowercased() {
            case "expires": expires = Self.expires(value, at: now) ?? expires
            case "max-age": age = Self.age(value, at: now) ?? age
            case "domain": domain = value.isEmpty ? nil : value
            case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : "/"
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            default: break
            }
        }
    }

    private static func pair(_ text: Substring.UTF8View) -> (name: String, value: String?) {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        let value = text.count > name.count ? text.dropFirst(name.count + 1) : nil
        return (String(Substring(name).trimmingBlanks), value.map { String(Substring($0).trimmingBlanks) })
    }

    private static func expires(_ text: String, at now: Date) -> Date? {
        guard let seconds = CookieDate.seconds(in: text.utf8) else { return nil }
        return min(Date(timeIntervalSince1970: Double(seconds)), now + Double(longestAge))
    }

    /// Returns `nil` for anything but an integer, which may be negative and of any length.
    private static func age(_ text: String, at now: Date) -> Date? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        let seconds = digits.reduce(0) { min($0 * 10 + Int($1 & 0x0F), longestAge) }
        // Not a moment ago: the clock may be set back before the cookie is deleted.
        return isNegative || seconds == 0 ? .distantPast : now + Double(seconds)
    }

    /// Splits a field into its cookies.
    ///
    /// A field should have one cookie (RFC 6265 section 3). But proxies join fields, and Foundation starts another
    /// cookie at a comma if a name and an equals sign follow. A date has no equals sign after its comma.
    ///
    /// - Parameter limit: The most cookies. Further ones are dropped.
    static func split(_ field: String, limit: Int) -> [Substring] {
        /// The part after a comma that was read last.
        enum Part { case none, blank, name, blankAfterName }
        var cookies: [Substring] = []
        var (start, comma, part) = (field.startIndex, field.startIndex, Part.none)
        for index in field.utf8.indices {
            switch (field.utf8[index], part) {
            case (UInt8(ascii: ","), _): (comma, part) = (index, .blank)
            case (UInt8(ascii: "="), .name), (UInt8(ascii: "="), .blankAfterName):
                cookies.append(field[start..<comma])
                guard cookies.count < limit else { return cookies }
                (start, part) = (field.utf8.index(after: comma), .none)
            case (0x20, .name), (0x09, .name): part = .blankAfterName
            case (0x20, .blank), (0x09, .blank), (0x20, .blankAfterName), (0x09, .blankAfterName): break
            case (let byte, .blank) where HeaderToken.isByte(byte): part = .name
            case (let byte, .name) where HeaderToken.isByte(byte): break
            default: part = .none
            }
        }
        return cookies + [field[start...]]
    }
}
