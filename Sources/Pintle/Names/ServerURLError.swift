/// The reason why a URL names no server that a policy can judge.
public struct ServerURLError: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case scheme, tooLong, character, userInfo, port
        case host(ServerNameError)
    }

    package let reason: Reason
    /// The scheme and the server of the URL. User-info, which may be a password, is left out, and so is the rest.
    public let text: String

    /// A stable code for machines: `scheme`, `too-long`, `character`, `user-info`, `port` or `host`.
    public var code: String {
        switch reason {
        case .scheme: "scheme"
        case .tooLong: "too-long"
        case .character: "character"
        case .userInfo: "user-info"
        case .port: "port"
        case .host: "host"
        }
    }

    /// The remedy.
    public var hint: String {
        switch reason {
        case .scheme: "write https://HOST[:PORT]/... or wss://HOST[:PORT]/..."
        case .tooLong: "a URL has at most 8192 bytes here"
        case .character: "percent-encode blanks and other characters, and write the host as A-labels (xn--...)"
        case .userInfo: "leave out what stands before @"
        case .port: "write a port from 1 to 65535, or none"
        case .host(let error): error.hint
        }
    }
}

extension ServerURLError: CustomStringConvertible {
    /// The URL and the reason, for people.
    public var description: String {
        switch reason {
        case .scheme: "\"\(text)\" is not an https or wss URL"
        case .tooLong: "\"\(text)\" is too long"
        case .character: "\"\(text)\" has characters that programs read differently from one another"
        case .userInfo: "the URL of \"\(text)\" has user-info before the host"
        case .port: "\"\(text)\" has no port from 1 to 65535"
        case .host(let error): "\(error)"
        }
    }
}
