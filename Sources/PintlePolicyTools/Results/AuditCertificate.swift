internal import Pintle
internal import PintlePolicyFile
internal import PintleSystem

/// A certificate of the validated path, as a result names it.
struct AuditCertificate {
    let spkiPin: PublicKeyPin
    let fingerprint: CertificatePin
    let notBefore: Date
    let notAfter: Date
    let isRoot: Bool

    /// The certificates of one result at most. `AuditResult` writes no more.
    static let mostCertificates = 16

    /// Returns the certificates that are on the validated path, the leaf first; none if `list` names none.
    ///
    /// - Throws: if the list is not what `AuditResult` writes: the path comes first, from `leaf` over `1`,
    ///   `2`...
    ///   to `root`.
    static func path(_ list: JSONValue?) throws(AuditRecordError) -> [AuditCertificate] {
        guard let list else { return [] }
        guard let elements = list.elements, list.count <= mostCertificates else {
            throw AuditRecordError(message: "certificates is not a list of at most \(mostCertificates)")
        }
        var path: [AuditCertificate] = []
        for element in elements where element["onPath"]?.boolean == true {
            let certificate = try AuditCertificate(element)
            let position = element["position"]?.string
            let expected = path.isEmpty ? "leaf" : certificate.isRoot ? "root" : "\(path.count)"
            guard position == expected, path.last?.isRoot != true else {
                throw AuditRecordError(message: "its path is not in order at certificate \(path.count)")
            }
            path.append(certificate)
        }
        return path
    }

    private init(_ element: JSONValue) throws(AuditRecordError) {
        do {
            spkiPin = try PublicKeyPin(element["spkiPin"]?.string ?? "")
            fingerprint = try CertificatePin(element["certificateSHA256"]?.string ?? "")
        } catch {
            throw AuditRecordError(message: "a certificate on its path has no pins: \(error)")
        }
        guard let notBefore = try AuditRecord.date(element, "notBefore"),
            let notAfter = try AuditRecord.date(element, "notAfter")
        else { throw AuditRecordError(message: "a certificate on its path has no dates") }
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
        isRoot = element["position"]?.string == "root"
    }
}
