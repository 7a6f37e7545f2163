import COpenSSL
import PintleOpenSSL

@testable import Pintle

private let validator = PathValidator(system: SystemAnchors(replacedBy: []))

/// The input is a chain of concatenated DER certificates, the last one being the anchor. A path that is found begins
/// with the leaf, ends with the anchor, and each certificate on it was signed by the next.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    var reader = DERReader(0..<input.count)
    var chain: [[UInt8]] = []
    while let element = try? reader.next(in: input, reading: "certificate") {
        chain.append(Array(input[element.range]))
    }
    guard let last = chain.popLast(), let anchor = try? Certificate(der: last),
        let leaf = chain.first.flatMap({ try? Certificate(der: $0) }), let presented = try? PresentedChain(chain),
        let host = try? ServerName("leaf.example")
    else { return 0 }
    let request = PathRequest(
        chain: presented, host: host, anchors: .only([anchor]), instant: leaf.validity.notBefore, pins: nil)
    guard case .valid(let path) = validator.validate(request) else { return 0 }
    guard path.certificates.first == leaf.der, path.certificates.last == anchor.der else { fatalError("other ends") }
    for (child, parent) in zip(path.certificates, path.certificates.dropFirst()) where !isSigned(child, by: parent) {
        fatalError("a certificate on the path that the next did not sign")
    }
    return 0
}

private func isSigned(_ child: [UInt8], by parent: [UInt8]) -> Bool {
    let certificates = [child, parent].map { der in
        der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509(nil, &cursor, bytes.count)
        }
    }
    defer {
        for certificate in certificates { X509_free(certificate) }
    }
    return X509_verify(certificates[0], X509_get0_pubkey(certificates[1])) == 1
}
