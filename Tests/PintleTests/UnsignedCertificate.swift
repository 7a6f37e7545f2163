@testable import Pintle

/// A certificate with an invalid signature and freely chosen fields. The core parses certificates but leaves signatures
/// to validation.
struct UnsignedCertificate {
    var version: [UInt8] = DERBytes.element(0xA0, DERBytes.integer(2))
    var serial: [UInt8] = DERBytes.integer(0x2A)
    var issuer: [UInt8] = Self.commonName("Issuer")
    var notBefore: [UInt8] = DERBytes.utcTime("250101000000Z")
    var notAfter: [UInt8] = DERBytes.utcTime("351231235959Z")
    var subject: [UInt8] = Self.commonName("Subject")
    var key: [UInt8] = Self.basePoint
    /// The elements between the key and the extensions.
    var uniqueIdentifiers: [UInt8] = []
    /// Complete Extension elements; `nil` omits the field.
    var extensions: [[UInt8]]?
    var signature: [UInt8] = DERBytes.bitString([0x30, 0x00])
    /// Bytes after the last field, inside the certificate.
    var trailing: [UInt8] = []

    static let ecdsaWithSHA256 = DERBytes.sequence(DERBytes.oid(1, 2, 840, 10045, 4, 3, 2))

    var der: [UInt8] {
        let extensionField = extensions.map { list in
            DERBytes.element(0xA3, DERBytes.sequence(list.flatMap(\.self)))
        }
        let tbs = DERBytes.sequence(
            version, serial, Self.ecdsaWithSHA256, issuer, DERBytes.sequence(notBefore, notAfter), subject, key,
            uniqueIdentifiers, extensionField ?? [])
        return DERBytes.sequence(tbs, Self.ecdsaWithSHA256, signature, trailing)
    }

    func read() throws(DERError) -> Certificate { try Certificate(der: der) }

    static func commonName(_ text: String) -> [UInt8] {
        DERBytes.sequence(attribute(DERBytes.utf8(text)))
    }

    /// Returns a SET of one attribute, by default a common name.
    static func attribute(_ value: [UInt8], type: [UInt8] = DERBytes.oid(2, 5, 4, 3)) -> [UInt8] {
        DERBytes.set(DERBytes.sequence(type, value))
    }

    /// The P-256 key whose private half is 1.
    static let basePoint = p256(
        [
            0x04, 0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
            0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
            0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16,
            0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
        ])

    static func p256(_ point: [UInt8]) -> [UInt8] {
        DERBytes.sequence(
            DERBytes.sequence(DERBytes.oid(1, 2, 840, 10045, 2, 1), DERBytes.oid(1, 2, 840, 10045, 3, 1, 7)),
            DERBytes.bitString(point))
    }

    /// Returns a key with arbitrary bytes in place of a point of P-256. Different numbers give different keys.
    static func p256Key(_ number: Int) -> [UInt8] {
        let point = (0..<64).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7) }
        return p256([0x04, UInt8(truncatingIfNeeded: number >> 8)] + point)
    }

    static func extensionField(_ identifier: [UInt8], critical: [UInt8] = [], _ value: [UInt8]) -> [UInt8] {
        DERBytes.sequence(identifier, critical, DERBytes.octetString(value))
    }
}

extension UnsignedCertificate {
    /// Creates a certificate with alternative names and with name constraints, each a GeneralName element.
    init(names: [[UInt8]], permitted: [[UInt8]] = [], excluded: [[UInt8]] = []) {
        let lists = [(UInt8(0xA0), permitted), (0xA1, excluded)].filter { !$0.1.isEmpty }
        let constraints = Self.extensionField(
            DERBytes.oid(2, 5, 29, 30),
            DERBytes.sequence(
                lists.flatMap { tag, bases in DERBytes.element(tag, bases.flatMap { DERBytes.sequence($0) }) }))
        let field = Self.extensionField(DERBytes.oid(2, 5, 29, 17), DERBytes.sequence(names.flatMap(\.self)))
        self.init()
        let list = (names.isEmpty ? [] : [field]) + (lists.isEmpty ? [] : [constraints])
        extensions = list.isEmpty ? nil : list
    }
}

extension DERError {
    /// Returns the error that parsing threw; `nil` if it succeeded.
    static func thrown(by body: () throws(DERError) -> Void) -> DERError? {
        do throws(DERError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
