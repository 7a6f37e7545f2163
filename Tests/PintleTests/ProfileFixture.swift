@testable import Pintle

/// A path of leaf, intermediate and root without findings, which a test changes.
struct ProfileFixture {
    typealias D = DERBytes

    var leaf = UnsignedCertificate()
    var intermediate = UnsignedCertificate()
    var root = UnsignedCertificate()
    var leafExtensions: [[UInt8]] = []
    var intermediateExtensions: [[UInt8]] = []
    var rootExtensions: [[UInt8]] = []
    /// The leaf's subject alternative names, as GeneralName elements.
    var names: [[UInt8]] = [Self.dns("server.example.test")]
    var isNamesCritical = false
    /// A Boolean value that indicates whether the path consists only of the leaf, which is the configured anchor.
    var leafIsAnchor = false
    var anchorIsOfRule = false
    var comparesConstraints = true
    var suffixNote: String?
    var isPublicSuffix: @Sendable (String) -> Bool = { ["com", "co.uk"].contains($0) }

    init(_ change: (inout ProfileFixture) -> Void = { _ in }) {
        change(&self)
    }

    /// Returns the findings as text: `weak-key 0: a key of the kind ...`.
    func findings() throws -> [String] {
        var leaf = leaf
        let alternativeNames = UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 17), critical: isNamesCritical ? D.yes : [], D.sequence(names.flatMap(\.self)))
        leaf.extensions = (names.isEmpty ? [] : [alternativeNames]) + leafExtensions
        if leaf.extensions?.isEmpty == true { leaf.extensions = nil }
        var (intermediate, root) = (intermediate, root)
        intermediate.extensions = [Self.authority] + intermediateExtensions
        root.extensions = [Self.authority] + rootExtensions
        let path = leafIsAnchor ? [try leaf.read()] : [try leaf.read(), try intermediate.read(), try root.read()]
        let profile = PathProfile(isPublicSuffix: isPublicSuffix, suffixNote: suffixNote)
        return profile.findings(
            path, leafIsAnchor: leafIsAnchor, anchorIsOfRule: anchorIsOfRule, comparesConstraints: comparesConstraints
        ).map { "\($0.code.rawValue) \($0.depth.map(String.init) ?? "-"): \($0.text)" }
    }

    static let authority = UnsignedCertificate.extensionField(
        D.oid(2, 5, 29, 19), critical: D.yes, D.sequence(D.yes))

    static func dns(_ name: String) -> [UInt8] { D.element(0x82, Array(name.utf8)) }

    static func extendedKeyUsage(_ purposes: [UInt8]..., critical: Bool = false) -> [UInt8] {
        UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 37), critical: critical ? D.yes : [], D.sequence(purposes.flatMap(\.self)))
    }

    static func nameConstraints(permitted: [String] = [], excluded: [String] = []) -> [UInt8] {
        let lists = [(UInt8(0xA0), permitted), (0xA1, excluded)].filter { !$0.1.isEmpty }
        return UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 30), critical: D.yes,
            D.sequence(lists.flatMap { tag, names in D.element(tag, names.flatMap { D.sequence(dns($0)) }) }))
    }

    /// Returns an RSA key whose modulus has this many bits.
    static func rsaKey(bits: Int) -> [UInt8] {
        let top: UInt8 = 1 << UInt8((bits - 1) % 8)
        let modulus = [top] + [UInt8](repeating: 0x5A, count: (bits + 7) / 8 - 2) + [1]
        let number = D.element(0x02, (top == 0x80 ? [0] : []) + modulus)
        return D.sequence(
            D.sequence(D.oid(1, 2, 840, 113_549, 1, 1, 1), D.null),
            D.bitString(D.sequence(number, D.integer(1, 0, 1))))
    }
}
