public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is sent about a failure: the object of RFC 7469 section 3, and what decided.
///
/// Members can be changed by whoever redacts; see ``ReportOptions/redact``.
public struct TrustFailureReport: Sendable, Hashable {
    /// When it was decided. Sent as RFC 3339, UTC, in seconds.
    public var dateTime: Date
    /// The server that was asked for.
    public var hostname: String
    /// `port` of RFC 7469: that of the server.
    public var port: UInt16
    /// When the pins of the rule expire; `nil`, sent as null: never.
    public var effectiveExpirationDate: Date?
    /// `include-subdomains` of RFC 7469: that of the rule.
    public var includeSubdomains: Bool
    /// The host of the rule.
    public var notedHostname: String
    /// What the server sent, PEM, leaf first, whatever validation made of it; certificates that cannot be read are left
    /// out.
    public var servedCertificateChain: [String]
    /// The path that validation found, PEM, leaf to anchor; empty where there is none.
    public var validatedCertificateChain: [String]
    /// The rule's pins, backup pins after the others: `pin-sha256="..."` as in RFC 7469 section 2.1, and
    /// `certificate-sha256="..."`, base64 too, for certificates. All of them, or none where there is no room for all.
    public var knownPins: [String]
    /// The consequence that the rule names for a mismatch.
    public var enforcement: Enforcement
    /// The code of the verdict, such as `pin-mismatch`.
    public var reason: String
    /// The code of a path failure, where the path was at fault.
    public var pathFailure: String?
    /// The `updateVersion` of the policy that decided.
    public var policyVersion: Int
    /// What the app says about itself; `nil` is not sent.
    public var app: [String: String]?

    /// A report in JSON is no longer than this.
    public static let maximumBytes = 64_000

    /// `nil` where no rule covers the server: there are no pins to report about, and no address.
    ///
    /// - Parameter app: at most 16 pairs of at most 256 bytes each are taken, in the order of their keys.
    public init?(_ failure: TrustFailure, app: [String: String] = [:]) {
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

    /// From the leaf on, until there are more than a report can hold: a server may send four mebibytes of them.
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

    /// Leaves out certificates, from the ends of the chains, the leaves last, and after them all pins, until a size is kept.
    /// No rule that fails is without pins: a list of some would look whole, and none does not.
    ///
    /// - Parameter size: of what is to be sent, in bytes.
    /// - Returns: whether it is kept.
    mutating func fit(_ maximumBytes: Int = Self.maximumBytes, size: (TrustFailureReport) -> Int) -> Bool {
        while true {
            let excess = size(self) - maximumBytes
            guard excess > 0 else { return true }
            // In JSON a text is at least as long, so that no more goes than has to.
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
