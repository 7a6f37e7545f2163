/// The grammar of field names, methods and schemes (RFC 9110 section 5.6.2).
enum HeaderToken {
    static func isByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
