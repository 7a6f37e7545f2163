import CBaselines
import Glibc
import Pintle

/// The certificates that mint.sh made.
struct Material {
    let directory: String
    let root: [UInt8]
    let intermediate: [UInt8]
    let leafP256: [UInt8]
    let leafRSA: [UInt8]

    init(_ directory: String) {
        self.directory = directory
        root = read("\(directory)/root.der")
        intermediate = read("\(directory)/intermediate.der")
        leafP256 = read("\(directory)/leaf-p256.der")
        leafRSA = read("\(directory)/leaf-rsa.der")
    }
}

func read(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { stop("cannot read \(path)") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
}

func stop(_ message: String) -> Never {
    print("bench: \(message)")
    exit(2)
}

/// Returns a certificate for the peers in C. It is never freed, because a benchmark soon ends.
func baselineCertificate(_ der: [UInt8]) -> baseline_certificate {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: der.count)
    _ = copy.initialize(from: der)
    return baseline_certificate(bytes: copy.baseAddress, count: der.count)
}
