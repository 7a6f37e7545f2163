package import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension TrustFailureReport {
    /// The object, one line of JSON.
    ///
    /// - Parameter age: milliseconds since the failure; `nil` while it is not being sent.
    package func json(age: Int64? = nil) -> [UInt8] {
        var json = JSONWriter(.compact)
        write(to: &json, age: age)
        return json.bytes
    }

    package func write(to json: inout JSONWriter, age: Int64?) {
        json.object { json in
            json.member("date-time", RFC3339.string(from: dateTime))
            json.member("hostname", hostname)
            json.member("port", Int(port))
            json.key("effective-expiration-date")
            if let date = effectiveExpirationDate { json.value(RFC3339.string(from: date)) } else { json.null() }
            json.member("include-subdomains", includeSubdomains)
            json.member("noted-hostname", notedHostname)
            json.member("served-certificate-chain", servedCertificateChain)
            json.member("validated-certificate-chain", validatedCertificateChain)
            json.member("known-pins", knownPins)
            json.member("age", age)
            json.member("enforcement", enforcement.rawValue)
            json.member("reason", reason)
            json.member("path-failure", pathFailure)
            json.member("policy-version", policyVersion)
            if let app {
                json.object("app") { json in
                    for (key, value) in app.sorted(by: { $0.key < $1.key }) { json.member(key, value) }
                }
            }
        }
    }

    /// Reads the object, with an age or without; members that it does not have are ignored. `nil` for anything else.
    package init?(_ json: JSONValue) {
        func date(_ key: StaticString) -> Date? { json[key]?.string.flatMap { try? RFC3339.date(from: $0) } }
        func texts(_ key: StaticString) -> [String]? {
            guard let elements = json[key]?.elements else { return nil }
            let texts = elements.map(\.string)
            return texts.contains(nil) ? nil : texts.compactMap(\.self)
        }
        guard json.kind == .object, let dateTime = date("date-time"), let hostname = json["hostname"]?.string,
            let port = json["port"]?.integer.flatMap({ UInt16(exactly: $0) }),
            let expiration = json["effective-expiration-date"],
            let includeSubdomains = json["include-subdomains"]?.boolean,
            let notedHostname = json["noted-hostname"]?.string, let served = texts("served-certificate-chain"),
            let validated = texts("validated-certificate-chain"), let knownPins = texts("known-pins"),
            let enforcement = json["enforcement"]?.string.flatMap({ Enforcement(rawValue: $0) }),
            let reason = json["reason"]?.string, let version = json["policy-version"]?.integer
        else { return nil }
        let expirationDate = date("effective-expiration-date")
        guard expiration.isNull || expirationDate != nil else { return nil }
        self.dateTime = dateTime
        self.hostname = hostname
        self.port = port
        effectiveExpirationDate = expirationDate
        self.includeSubdomains = includeSubdomains
        self.notedHostname = notedHostname
        servedCertificateChain = served
        validatedCertificateChain = validated
        self.knownPins = knownPins
        self.enforcement = enforcement
        self.reason = reason
        pathFailure = json["path-failure"]?.string
        policyVersion = Int(clamping: version)
        if let members = json["app"]?.members {
            var app: [String: String] = [:]
            for member in members {
                guard let key = member.key.string, let value = member.value.string else { return nil }
                app[key] = value
            }
            self.app = app
        }
    }
}
