import Testing

@testable import Pintle

@Suite("Matching of pins")
struct PinSetTests {
    /// A chain of leaf, intermediate and root.
    private static let chain = TestChain()
    private static let path = chain.path

    private static func match(
        _ pins: [Pin], backups: [Pin] = [], requires: PinRequirement = .anyPin, in path: ValidatedPath = path
    ) -> PinMatch? {
        PinSet(pins: pins, backupPins: backups, requires: requires).match(path)
    }

    @Test("A key pin matches at every depth and reports it", arguments: 0..<3)
    func depths(_ depth: Int) {
        let pin = Self.chain.keyPin(depth)
        #expect(Self.match([pin]) == PinMatch(pin: pin, depth: depth, isBackup: false))
    }

    @Test("A certificate pin matches at every depth and reports it", arguments: 0..<3)
    func certificateDepths(_ depth: Int) {
        let pin = Self.chain.certificatePin(depth)
        #expect(Self.match([pin]) == PinMatch(pin: pin, depth: depth, isBackup: false))
    }

    @Test("A pin of a certificate that is not on the path does not match")
    func noMatch() throws {
        let other = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: UnsignedCertificate.p256Key(99))))
        #expect(Self.match([other]) == nil)
        #expect(Self.match([]) == nil)
        #expect(Self.match([other, Self.chain.keyPin(2)])?.depth == 2)
    }

    @Test("The leaf is compared first, whatever the order of the pins")
    func leafFirst() {
        let pins = [Self.chain.keyPin(2), Self.chain.certificatePin(1), Self.chain.keyPin(0)]
        #expect(Self.match(pins)?.depth == 0)
        #expect(Self.match(Array(pins.dropLast()))?.depth == 1)
    }

    @Test("A leaf pin matches only the leaf, and a ca pin every certificate above it")
    func positions() {
        for depth in 0..<3 {
            for pin in [Self.chain.keyPin, Self.chain.certificatePin] {
                #expect((Self.match([pin(depth, .leaf)]) != nil) == (depth == 0))
                #expect((Self.match([pin(depth, .ca)]) != nil) == (depth > 0))
            }
        }
    }

    @Test("A match of a backup pin is marked; at one depth the pin in use comes first")
    func backups() {
        #expect(Self.match([Self.chain.keyPin(2)], backups: [Self.chain.keyPin(0)])?.isBackup == true)
        #expect(Self.match([Self.chain.keyPin(0)], backups: [Self.chain.keyPin(2)])?.isBackup == false)
        #expect(Self.match([Self.chain.keyPin(0)], backups: [Self.chain.keyPin(0, .leaf)])?.isBackup == false)
    }

    @Test("A key pin never matches a certificate with the same hash, or the reverse")
    func kinds() {
        guard case .publicKey(let key) = Self.chain.keyPin(0).subject else { return }
        #expect(Self.match([Pin(.certificate(CertificatePin(digest: key.digest)))]) == nil)
        guard case .certificate(let certificate) = Self.chain.certificatePin(0).subject else { return }
        #expect(Self.match([Pin(.publicKey(PublicKeyPin(digest: certificate.digest)))]) == nil)
    }

    @Test("A set is empty without pins and backup pins")
    func empty() {
        func isEmpty(_ pins: [Pin], _ backups: [Pin]) -> Bool {
            PinSet(pins: pins, backupPins: backups, requires: .anyPin).isEmpty
        }
        let pin = [Self.chain.keyPin(0)]
        #expect(isEmpty([], []) && !isEmpty(pin, []) && !isEmpty([], pin) && !isEmpty(pin, pin))
    }

    @Test("If a leaf and a ca are required, only one of them is not enough")
    func leafAndCA() {
        let leaf = Self.chain.keyPin(0, .leaf)
        let authority = Self.chain.keyPin(1, .ca)
        let otherLeaf = Self.chain.keyPin(1, .leaf)
        let otherAuthority = Self.chain.keyPin(0, .ca)
        #expect(Self.match([leaf, authority], requires: .leafAndCA)?.pin == leaf)
        #expect(Self.match([authority, leaf], requires: .leafAndCA)?.depth == 0)
        #expect(Self.match([leaf, otherAuthority], requires: .leafAndCA) == nil)
        #expect(Self.match([otherLeaf, authority], requires: .leafAndCA) == nil)
        #expect(Self.match([leaf], backups: [authority], requires: .leafAndCA)?.isBackup == false)
        #expect(Self.match([authority], backups: [leaf], requires: .leafAndCA)?.isBackup == true)
        let alone = ValidatedPath(uncheckedLeafToAnchor: [Self.path.certificates[0]])
        #expect(Self.match([leaf, authority], requires: .leafAndCA, in: alone) == nil)
        #expect(Self.match([leaf, authority], in: alone)?.pin == leaf)
    }

    @Test("A certificate whose key cannot be read does not prevent other certificates from matching")
    func unreadableKey() {
        let certificates = [[0x30, 0x00], Self.path.certificates[1]] as [[UInt8]]
        let path = ValidatedPath(uncheckedLeafToAnchor: certificates)
        #expect(Self.match([Self.chain.keyPin(1)], in: path)?.depth == 1)
        let fingerprint = Pin(.certificate(CertificatePin(certificate: certificates[0])))
        #expect(Self.match([Self.chain.keyPin(2), fingerprint], in: path)?.depth == 0)
        #expect(Self.match([Self.chain.keyPin(0)], in: ValidatedPath(uncheckedLeafToAnchor: [])) == nil)
    }
}
