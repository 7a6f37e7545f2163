internal import COpenSSL
public import Foundation

public protocol Digest: Hashable, ContiguousBytes, Sendable, Sequence where Element == UInt8 {
    static var byteCount: Int { get }
}

extension Digest {
    public func makeIterator() -> Array<UInt8>.Iterator { withUnsafeBytes { Array($0) }.makeIterator() }
}

/// A digest that OpenSSL computes.
public struct SHA256Digest: Digest {
    public static var byteCount: Int { 32 }
    let bytes: [UInt8]

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

public struct SHA384Digest: Digest {
    public static var byteCount: Int { 48 }
    let bytes: [UInt8]

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

public struct SHA512Digest: Digest {
    public static var byteCount: Int { 64 }
    let bytes: [UInt8]

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

public struct SHA256: Sendable {
    private var input: [UInt8] = []

    public init() {}

    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { input += bufferPointer }

    public func finalize() -> SHA256Digest { SHA256Digest(bytes: digest(of: input, EVP_sha256())) }

    public static func hash<Message: DataProtocol>(data: Message) -> SHA256Digest {
        SHA256Digest(bytes: digest(of: Array(data), EVP_sha256()))
    }
}

public struct SHA384: Sendable {
    public static func hash<Message: DataProtocol>(data: Message) -> SHA384Digest {
        SHA384Digest(bytes: digest(of: Array(data), EVP_sha384()))
    }
}

public struct SHA512: Sendable {
    public static func hash<Message: DataProtocol>(data: Message) -> SHA512Digest {
        SHA512Digest(bytes: digest(of: Array(data), EVP_sha512()))
    }
}

public enum Insecure {
    public struct SHA1Digest: Digest {
        public static var byteCount: Int { 20 }
        let bytes: [UInt8]

        public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try bytes.withUnsafeBytes(body)
        }
    }

    public struct MD5Digest: Digest {
        public static var byteCount: Int { 16 }
        let bytes: [UInt8]

        public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try bytes.withUnsafeBytes(body)
        }
    }

    public struct SHA1: Sendable {
        public static func hash<Message: DataProtocol>(data: Message) -> SHA1Digest {
            SHA1Digest(bytes: digest(of: Array(data), EVP_sha1()))
        }
    }

    public struct MD5: Sendable {
        public static func hash<Message: DataProtocol>(data: Message) -> MD5Digest {
            MD5Digest(bytes: digest(of: Array(data), EVP_md5()))
        }
    }
}

/// Returns no bytes if OpenSSL refuses the algorithm. No signature is made from an empty digest.
private func digest(of message: [UInt8], _ algorithm: OpaquePointer?) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard EVP_Digest(message, message.count, &bytes, &count, algorithm, nil) == 1 else { return [] }
    return Array(bytes.prefix(Int(count)))
}
