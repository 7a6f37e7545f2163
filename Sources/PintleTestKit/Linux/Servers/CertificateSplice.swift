/// Puts other certificates into the Certificate message of a TLS 1.2 server on its way out.
///
/// OpenSSL sends only certificates that it has parsed, encoded anew. Up to TLS 1.2 the message is
/// in the clear (RFC 5246 section 7.4.2), so records (section 6.2.1) can be taken apart here and put
/// together again around any bytes at all.
struct CertificateSplice {
    private static let handshake: UInt8 = 22
    private static let certificate: UInt8 = 11

    private let message: [UInt8]
    private var isDone = false
    /// Output that is not a whole record yet.
    private var partialRecord: [UInt8] = []
    /// Handshake bytes that are not a whole message yet.
    private var partialMessage: [UInt8] = []

    init(chain: [[UInt8]]) {
        let list = chain.flatMap { CertificateSplice.length($0.count) + $0 }
        let body = CertificateSplice.length(list.count) + list
        message = [CertificateSplice.certificate] + CertificateSplice.length(body.count) + body
    }

    /// What to send in place of `output`.
    mutating func rewrite(_ output: [UInt8]) -> [UInt8] {
        guard !isDone else { return output }
        partialRecord += output
        var result: [UInt8] = []
        while partialRecord.count >= 5 {
            let count = 5 + Int(partialRecord[3]) << 8 + Int(partialRecord[4])
            guard partialRecord.count >= count else { break }
            let record = Array(partialRecord.prefix(count))
            partialRecord.removeFirst(count)
            guard record[0] == CertificateSplice.handshake else {
                // An alert, or ChangeCipherSpec: no certificate comes after these.
                isDone = true
                defer { partialRecord = [] }
                return result + record + partialRecord
            }
            partialMessage += record.dropFirst(5)
            result += messages(version: record[1...2])
        }
        return result
    }

    private mutating func messages(version: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        while partialMessage.count >= 4 {
            let length = partialMessage[1...3].reduce(0) { $0 << 8 + Int($1) }
            guard partialMessage.count >= 4 + length else { break }
            let original = partialMessage.prefix(4 + length)
            let replacement = original.first == CertificateSplice.certificate ? message[...] : original
            result += CertificateSplice.records(around: replacement, version: version)
            partialMessage.removeFirst(4 + length)
        }
        return result
    }

    private static func records(around message: ArraySlice<UInt8>, version: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = message
        while !rest.isEmpty {
            let fragment = rest.prefix(1 << 14)
            result += [handshake] + version + length(fragment.count).dropFirst() + fragment
            rest = rest.dropFirst(fragment.count)
        }
        return result
    }

    /// Three octets, big-endian.
    private static func length(_ count: Int) -> [UInt8] {
        [16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }
}
