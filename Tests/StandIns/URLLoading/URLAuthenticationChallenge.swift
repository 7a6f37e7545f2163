// A file that imports Foundation sees this module in its place. The other types of the loading system are those of
// Foundation for Linux. Types of this module hide those of the same name.
@_exported public import Foundation
@_exported public import FoundationNetworking
public import Security

public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

/// `@unchecked`: its properties are constant. As with Apple's class, only one thread at a time may use the trust
/// object.
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

    /// Makes a space with a trust object. Apple's class has no such initializer; there only the loading system makes
    /// such spaces.
    public static func serverTrust(_ trust: SecTrust?, host: String, port: Int) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: port, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust, serverTrust: trust)
    }
}

/// `@unchecked`: its properties are constant.
open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable {
        case none, forSession, permanent, synchronizable
    }

    public let user: String?
    public let password: String?
    public let persistence: Persistence
    /// The trust object, which Apple's class does not expose.
    public let trust: SecTrust?
    public let identity: SecIdentity?

    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        self.password = password
        self.persistence = persistence
        trust = nil
        identity = nil
    }

    public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {
        user = nil
        password = nil
        self.persistence = persistence
        trust = nil
        self.identity = identity
    }

    public init(trust: SecTrust) {
        user = nil
        password = nil
        persistence = .none
        self.trust = trust
        identity = nil
    }
}

public protocol URLAuthenticationChallengeSender: AnyObject {}

/// `@unchecked`: its properties are constant.
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

    /// Makes a challenge for tests without a connection.
    public static func asked(_ space: URLProtectionSpace) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(space)
    }
}
