// The part of CryptoKit that the core's hash uses. It is only for the compiler: nothing runs.
public struct SHA256 {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}

public struct SHA256Digest {
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

public enum Curve25519 {
    public enum Signing {
        public struct PrivateKey {
            public init(rawRepresentation: [UInt8]) throws {}
            public var publicKey: PublicKey { PublicKey() }
            public func signature(for message: [UInt8]) throws -> [UInt8] { [] }
        }

        public struct PublicKey {
            init() {}
            public init(rawRepresentation: [UInt8]) throws {}
            public var rawRepresentation: [UInt8] { [] }
            public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool { false }
        }
    }
}
