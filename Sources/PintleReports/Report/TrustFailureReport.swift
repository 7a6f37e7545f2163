public import Pintle
package import PintlePolicyFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content of a report about a failure: the object of RFC 7469 section 3, and the grounds of the decision.
///
/// The app can change the members to redact a report; see ``ReportOptions/redact``.
public struct TrustFailureReport: Sendable, Hashable {
    /// The time of the decision. Sent as RFC 3339, UTC, in whole seconds.
    public var dateTime: Date
    /// The requested server.
    public var hostname: String
    /// The port of the server; `port` of RFC 7469.
    public var port: UInt16
    /// The expiry of the rule's pins; `nil` for none, sent as null.
    public var effectiveExpirationDate: Date?
    /// A Boolean value that indicates whether the rule covers sub-domains; `include-subdomains` of RFC 7469.
    public var includeSubdomains: Bool
    /// The host of the rule.
    public var notedHostname: String
    /// The certificates from the server as PEM, leaf first, regardless of the result of validation. Certificates that
    /// cannot be parsed are left out. In a session, web view or connection of Apple's systems this is the path that the
    /// system built, because it does not say which certificates the server sent.
    public var servedCertificateChain: [String]
    /// The path that validation found as PEM, from leaf to anchor; empty if there is none.
    public var validatedCertificateChain: [String]
    /// The rule's pins, followed by the backup pins: `pin-sha256="..."` as in RFC 7469 section 2.1, and
    /// `certificate-sha256="..."`, also base64, for certificates. Contains all pins, or none if there is no room for
    /// all.
    public var knownPins: [String]
    /// The enforcement of the rule.
    public var enforcement: Enforcement
    /// The code of the verdict, such as `pin-mismatch`.
    public var reason: String
    /// The code of the path failure, if there was one.
    public var pathFailure: String?
    /// The `updateVersion` of the deciding policy.
    public var policyVersion: Int
    /// The app's description of itself; not sent if `nil`.
    public var app: [String: String]?

    /// The size limit of a report in JSON, in bytes.
    package static let maximumBytes = 64_000

    /// Creates the report of a failure. Returns `nil` if no rule covers the server, because there are no pins to report
    /// and no address.
    ///
    /// - Parameters:
    ///   - failure: the failure.
    ///   - app: the app's description of itself. At most 16 pairs of at most 256 bytes each are taken, in the order of
    ///     their keys.
    public init?(_ failure: VerdictEvent, app: [String: String] = [:]) {
        guard let rule = failure.rule, rule.index < failure.policy.hosts.count else { return nil }
        let host = failure.policy.hosts[rule.index]
        dateTime = failure.instant
        hostname = failure.endpoint.host.description
        port = failure.endpoint.port
        effectiveExpirationDate = host.expiry.date
        includeSubdomains = host.includesSubdomains
        notedHostname = rule.host.description
        let served = failure.evaluation.presented?.certificates.map(\.der) ?? []
        servedCertificateChain = Self.texts(of: served)
        let validated = failure.evaluation.path?.certificates ?? []
        validatedCertificateChain = Self.texts(of: validated)
        knownPins = (host.pins + host.backupPins).map(\.known)
        enforcement = host.enforcement
        reason = failure.reason
        if case .rejected(let rejection) = failure.decision { pathFailure = rejection.pathFailure?.code.rawValue }
        policyVersion = failure.policy.updateVersion
        let pairs = app.sorted { $0.key < $1.key }.filter { $0.key.utf8.count <= 256 && $0.value.utf8.count <= 256 }
        self.app = pairs.isEmpty ? nil : Dictionary(pairs.prefix(16).map { ($0.key, $0.value) }) { first, _ in first }
    }

    /// Returns certificates as PEM from the leaf on, up to the limit of a report. A server may send four mebibytes.
    private static func texts(of chain: [[UInt8]]) -> [String] {
        var texts: [String] = []
        var size = 0
        for der in chain {
            size += der.count
            guard size <= maximumBytes else { break }
            texts.append(PEMBlock.text(label: "CERTIFICATE", bytes: der))
        }
        return texts
    }

    /// Shortens the report to a size. Removes certificates from the ends of the chains, the leaves last, and then all
    /// pins. The pins are never removed in part, because a partial list would look complete. An empty list cannot be
    /// misread: a rule that fails always has pins.
    ///
    /// - Parameters:
    ///   - maximumBytes: the limit.
    ///   - size: returns the size of the encoded report in bytes.
    /// - Returns: `true` if the report is within the limit.
    mutating func fit(_ maximumBytes: Int = Self.maximumBytes, size: (TrustFailureReport) -> Int) -> Bool {
        while true {
            let excess = size(self) - maximumBytes
            guard excess > 0 else { return true }
            // JSON needs at least as many bytes as the text, so this never removes more than necessary.
            var freed = 0
            while freed < excess, servedCertificateChain.count > 1 {
                freed += servedCertificateChain.removeLast().utf8.count
            }
            while freed < excess, validatedCertificateChain.count > 1 {
                freed += validatedCertificateChain.removeLast().utf8.count
            }
            if freed > 0 { continue }
            if !servedCertificateChain.isEmpty || !validatedCertificateChain.isEmpty {
                servedCertificateChain = []
                validatedCertificateChain = []
            } else if !knownPins.isEmpty {
                knownPins = []
            } else {
                return false
            }
        }
    }
}

extension Pin {
    fileprivate var known: String {
        switch subject {
        case .publicKey(let pin): "pin-sha256=\"\(Base64.encode(pin.bytes))\""
        case .certificate(let pin): "certificate-sha256=\"\(Base64.encode(pin.bytes))\""
        }
    }
}

extension TrustFailureReport {
    /// Returns the report as a JSON object in one line.
    ///
    /// - Parameter age: the milliseconds since the failure; `nil` for a report that is not being sent.
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

    /// Parses a report, with or without an age. Ignores unknown members. Returns `nil` for anything else.
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
