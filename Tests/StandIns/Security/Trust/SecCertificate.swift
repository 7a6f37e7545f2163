internal import COpenSSL
public import Foundation

/// A certificate that OpenSSL has parsed.
public final class SecCertificate {
    let pointer: OpaquePointer
    let der: [UInt8]

    init?(der: [UInt8]) {
        let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            return d2i_X509(nil, &cursor, buffer.count)
        }
        ERR_clear_error()
        guard let parsed else { return nil }
        pointer = parsed
        self.der = der
    }

    /// Adds a reference of its own.
    package convenience init?(borrowing pointer: OpaquePointer) {
        let count = i2d_X509(pointer, nil)
        guard count > 0 else { return nil }
        let der = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_X509(pointer, &cursor)))
        }
        self.init(der: der)
    }

    deinit {
        X509_free(pointer)
    }
}

public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(der: Array(data))
}

public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { Data(certificate.der) }
