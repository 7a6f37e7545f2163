internal import COpenSSL

/// The parts of a ClientHello (RFC 8446 section 4.1.2) that are the same for every host. They tell TLS stacks apart.
package struct ClientHello: Sendable, Hashable {
    /// The names in ALPN, in the client's order.
    package private(set) var applicationProtocols: [String] = []
    /// The versions that the client offers, the numbers on the wire in its order.
    package private(set) var versions: [UInt16] = []
    private var cipherSuites: [UInt16] = []

    /// The most names of ALPN that are kept.
    private static let nameLimit = 16
    /// The most cipher suites that are kept. Old clients offer about 80.
    private static let suiteLimit = 128

    package init(applicationProtocols: [String], versions: [UInt16]) {
        (self.applicationProtocols, self.versions) = (applicationProtocols, versions)
    }

    /// Reads the hello of a connection. Only OpenSSL's callback for a ClientHello may call this.
    init(_ ssl: OpaquePointer) {
        let suites = Self.bytes { SSL_client_hello_get0_ciphers(ssl, &$0) }
        cipherSuites = Self.numbers(in: suites.prefix(2 * Self.suiteLimit))
        let offered = Self.extension(TLSEXT_TYPE_supported_versions, of: ssl)
        versions =
            offered.isEmpty
            ? [UInt16(truncatingIfNeeded: SSL_client_hello_get0_legacy_version(ssl))]
            : Self.numbers(in: offered.dropFirst())
        var names = Self.extension(TLSEXT_TYPE_application_layer_protocol_negotiation, of: ssl).dropFirst(2)
        while let count = names.first, names.count > Int(count), applicationProtocols.count < Self.nameLimit {
            applicationProtocols.append(String(decoding: names.dropFirst().prefix(Int(count)), as: UTF8.self))
            names = names.dropFirst(1 + Int(count))
        }
        // GREASE (RFC 8701) is random.
        applicationProtocols.removeAll { $0.utf8.count == 2 && $0.utf8.allSatisfy { $0 & 0x0F == 0x0A } }
    }

    private static func bytes(_ read: (inout UnsafePointer<UInt8>?) -> Int) -> [UInt8] {
        var start: UnsafePointer<UInt8>?
        let count = read(&start)
        return Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    private static func `extension`(_ type: Int32, of ssl: OpaquePointer) -> [UInt8] {
        bytes { start in
            var count = 0
            return SSL_client_hello_get0_ext(ssl, UInt32(type), &start, &count) == 1 ? count : 0
        }
    }

    /// Returns numbers of two octets, without the random ones of GREASE (RFC 8701).
    private static func numbers(in bytes: ArraySlice<UInt8>) -> [UInt16] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).compactMap { index in
            let number = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
            return number & 0x0F0F == 0x0A0A && bytes[index] == bytes[index + 1] ? nil : number
        }
    }
}
