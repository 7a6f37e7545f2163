package import PintleTestKit

/// The facts about a client's connections to one host and port in a survey.
package struct SurveyedHost: Sendable {
    /// The host that the client asked for, in lower case; an IPv6 address in its shortest form.
    package let name: String
    package let port: UInt16

    /// The connections that met the interceptors of one authority, by their results.
    package struct Meetings: Sendable, Hashable {
        package private(set) var letThrough = 0
        package private(set) var refused = 0
        /// The number of connections that the client ended, perhaps not because of the certificate.
        package private(set) var givenUp = 0
        package private(set) var silent = 0

        package var count: Int { letThrough + refused + givenUp + silent }

        mutating func add(_ result: SurveyVisits.Result) {
            switch result {
            case .letThrough: letThrough += 1
            case .refused: refused += 1
            case .givenUp: givenUp += 1
            case .silent: silent += 1
            }
        }
    }

    /// The connections of one TLS stack that met the known authority.
    package struct Stack: Sendable {
        package private(set) var meetings = Meetings()
        /// A Boolean value that indicates whether a refusal said that the client does not know the authority: the alert
        /// unknown_ca (RFC 8446 section 6.2).
        private(set) var doesNotKnowAuthority = false

        mutating func add(_ result: SurveyVisits.Result, _ alert: LoopbackTLSServer.Alert?) {
            meetings.add(result)
            if case .refused = result, alert?.code == 48 { doesNotKnowAuthority = true }
        }
    }

    package internal(set) var known = Meetings()
    package internal(set) var unknown = Meetings()
    /// The stacks by their hello, at most ``limit``.
    package internal(set) var stacks: [ClientHello: Stack] = [:]
    /// The number of request bytes after decryption, and of those without TLS.
    package internal(set) var requestByteCount = 0
    /// The first different requests, masked, at most ``limit``.
    package internal(set) var requests: [String] = []
    /// The number of refusals of the known authority that came after the handshake. A client that never sends a request
    /// looks the same.
    package internal(set) var lateRefusalCount = 0
    /// The number of refusals of the known authority that an alert about the certificate reports.
    var alertRefusalCount = 0
    /// The first different fatal alerts of refusals of the known authority, at most ``limit``.
    package internal(set) var alerts: [LoopbackTLSServer.Alert] = []
    /// The number of connections with a request without TLS.
    package internal(set) var plainCount = 0
    /// The beginnings of connections without TLS and HTTP, at most ``limit``.
    package internal(set) var otherProtocols: [String] = []
    /// The number of connections that ended before a byte was sent.
    package internal(set) var emptyCount = 0
    /// The number of connections without a request that were open when the survey, or a run of the client, was ended.
    package internal(set) var unfinishedCount = 0
    /// The reason why the refusals of the known authority are pins; `nil` if there is none.
    package internal(set) var trustProof: TrustProof?
    /// The reasons why stacks that sent no request have not refused the authorities.
    var doubts: [SurveyAuthorities.Issuer: [Evidence.Doubt]] = [:]
    /// A Boolean value that indicates whether the client met the right server of this host and sent it no request.
    package internal(set) var hasFailedControl = false
    /// A Boolean value that indicates whether the client also sends the right server of this host no request: it only
    /// finishes the handshake.
    package internal(set) var isHandshakeOnly = false

    /// The most stacks, requests, alerts and protocols of a host that are kept.
    static let limit = 8
    /// The least number of handshakes with each authority.
    static let quota = 2

    /// The connections that show that a client trusts the known authority.
    package enum TrustProof: Sendable {
        /// The same ClientHello sent a request to another host.
        case otherHost
        /// The client sent a request to the right server of this host.
        case rightServer
    }

    init(name: String, port: UInt16) { (self.name, self.port) = (name, port) }

    /// The host and port, such as `example.com:443` or `[2001:db8::1]:443`.
    package var authority: String { Proxy.authority(name, port) }

    /// The answer of a client about a host: what was seen.
    package enum Answer: String, Sendable, CaseIterable {
        /// A request was sent to an interceptor whose authority the client does not know.
        case anyCertificate = "any-certificate"
        case plainHTTP = "plain-http"
        /// Some handshakes with the known authority were refused, and some were not.
        case both
        /// A request was sent to an interceptor whose authority the client knows.
        case unpinned
        /// As ``refused``, and the client is known to trust the authority.
        case pinned
        case refused
        /// The client finishes the handshake and sends no request, as at the right server.
        case handshakeOnly = "handshake-only"
        /// The client ended connections, and nothing shows that it refused the certificate.
        case inconclusive
        /// Connections were kept open or ended without a request.
        case silent
        case otherProtocol = "other-protocol"
        case noTLS = "no-tls"
    }

    package var answer: Answer {
        if unknown.letThrough > 0 { return .anyCertificate }
        if plainCount > 0 { return .plainHTTP }
        if known.letThrough > 0 { return known.refused > 0 ? .both : .unpinned }
        if !otherProtocols.isEmpty { return .otherProtocol }
        if isHandshakeOnly, known.count > 0, alertRefusalCount == 0 { return .handshakeOnly }
        if known.givenUp + unknown.givenUp > 0 || known.refused > 0 && known.silent > 0 { return .inconclusive }
        if known.refused > 0 { return trustProof != nil && unfinishedCount == 0 ? .pinned : .refused }
        return known.count + unknown.count + unfinishedCount > 0 ? .silent : .noTLS
    }

    /// Returns `true` if another run may show whether the client refuses an authority. A tunnel without a byte may have
    /// ended because another host was refused.
    func isUndecided(_ issuer: SurveyAuthorities.Issuer) -> Bool {
        if answer == .noTLS { return issuer == .known }
        let isJudged = (issuer == .known ? known : unknown).letThrough > 0 || plainCount > 0 || !otherProtocols.isEmpty
        return !isJudged && !isHandshakeOnly
            && doubts[issuer, default: []].contains { if case .silent = $0 { false } else { true } }
    }

    /// The reason why the client may only have given up its connections.
    package var doubt: String? { (doubts[.known] ?? doubts[.unknown])?.first?.words }

    /// A Boolean value that indicates whether the client did not come often enough to meet each authority twice.
    package var wasNotAskedAgain: Bool {
        known.count + unknown.count + unfinishedCount > 0 && min(known.count, unknown.count) < Self.quota
    }
}

extension SurveyedHost.Answer {
    /// The entries of public lists for hosts with this answer; none if the answer is no fault.
    package var standards: Standards {
        switch self {
        case .anyCertificate: .validation(.cwe295)
        case .plainHTTP: Standards(cwe: [.cwe319], owasp: [.network1, .maswe0026, .test0236])
        case .unpinned, .both: Standards(cwe: [.cwe295], owasp: [.network2, .maswe0028, .test0244])
        case .pinned, .refused, .handshakeOnly, .inconclusive, .silent, .otherProtocol, .noTLS: Standards()
        }
    }
}

extension Array where Element: Equatable {
    /// Appends an element that is not there yet, unless the array is full.
    mutating func append(_ element: Element, limit: Int) {
        if count < limit, !contains(element) { append(element) }
    }
}
