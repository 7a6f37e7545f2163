public import Foundation
// The rest of the loading system's types are Foundation's for Linux; what stands in this module under the same name
// hides them.
@_exported public import FoundationNetworking

public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// Sendable: nothing in it changes. The trust object is the asker's to use from one place at a time, as with Apple's.
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    public let host: String
    public let port: Int
    public let `protocol`: String?
    public let realm: String?
    public let authenticationMethod: String
    public let serverTrust: SecTrust?

    init(
        host: String, port: Int, protocol name: String?, realm: String?, authenticationMethod: String?,
        serverTrust: SecTrust?
    ) {
        self.host = host
        self.port = port
        self.protocol = name
        self.realm = realm
        self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodHTTPBasic
        self.serverTrust = serverTrust
    }

    public init(
        host: String, port: Int, protocol name: String?, realm: String?, authenticationMethod: String?
    ) {
        self.host = host
        self.port = port
        self.protocol = name
        self.realm = realm
        self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodHTTPBasic
        serverTrust = nil
    }

    open override func isProxy() -> Bool { false }

    /// Apple's has no such initialiser: there, the loading system alone makes spaces with a trust object.
    public static func serverTrust(_ trust: SecTrust?, host: String, port: Int) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: port, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust, serverTrust: trust)
    }
}

/// Sendable: nothing in it changes.
open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable {
        case none, forSession, permanent, synchronizable
    }

    public let user: String?
    public let password: String?
    public let persistence: Persistence
    /// Apple's does not tell.
    public let trust: SecTrust?

    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        self.password = password
        self.persistence = persistence
        trust = nil
    }

    public init(trust: SecTrust) {
        user = nil
        password = nil
        persistence = .none
        self.trust = trust
    }

    /// The default of a delegate's method answers with it, so that the loader can tell an absent method from one that
    /// leaves the answer to the system.
    static let ofAbsentMethod = URLCredential(user: "", password: "", persistence: .none)
}

public protocol URLAuthenticationChallengeSender: AnyObject {}

/// Sendable: nothing in it changes.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    public let protectionSpace: URLProtectionSpace
    public let proposedCredential: URLCredential?
    public let previousFailureCount: Int

    public init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        protectionSpace = space
        proposedCredential = credential
        self.previousFailureCount = previousFailureCount
    }

    init(_ space: URLProtectionSpace, previousFailureCount: Int = 0) {
        protectionSpace = space
        proposedCredential = nil
        self.previousFailureCount = previousFailureCount
    }

    /// For tests that ask without a connection.
    public static func asked(_ space: URLProtectionSpace) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(space)
    }
}
