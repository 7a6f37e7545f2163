import FoundationEssentials
import Pintle
import PintleTestKit

/// Minted authorities that take the places of public ones, with a file of their families.
struct FamilyFixture {
    let directory: TemporaryDirectory
    /// Four roots of one authority, two of a second one, and one of a third.
    let families: [String: [PintleTestKit.CertificateAuthority]]
    /// The file of `--families`.
    let file: String
    /// All roots, for `--anchors`.
    let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        var families: [String: [PintleTestKit.CertificateAuthority]] = [:]
        for (id, count) in [("alpha", 4), ("beta", 2), ("gamma", 1)] {
            families[id] = try (1...count).map { try CertificateAuthority.root(name: "\(id) \($0)") }
        }
        self.families = families
        anchors = try directory.write(
            families.values.joined().map(\.certificate.pem).joined(), to: "roots.pem")
        file = try directory.write(try Self.json(families), to: "families.json")
    }

    /// - Parameter more: members of the family `alpha`.
    static func json(
        _ families: [String: [PintleTestKit.CertificateAuthority]], date: String = today, more: String = ""
    ) throws -> String {
        let objects = try families.sorted { $0.key < $1.key }.map { id, roots in
            let members = try roots.enumerated().map { index, root in
                "{\"name\": \"\(id) \(index + 1)\", \"pin\": \"\(try pin(root.certificate))\", \"from\": \"a test\"}"
            }
            return "{\"id\": \"\(id)\", \"name\": \"\(id.uppercased())\", "
                + (id == "alpha" ? more : "") + "\"roots\": [\(members.joined(separator: ", "))]}"
        }
        return """
            {"version": 1, "date": "\(date)", "families": [
            \(objects.joined(separator: ",\n"))],
            "edges": [{"id": "edge", "name": "Edge", "families": ["alpha", "beta"]}]}
            """
    }

    /// The day of the tests, in UTC: a file of families is of a day that has come.
    static var today: String { String(RFC3339.string(from: Date()).prefix(10)) }

    static func pin(_ certificate: MintedCertificate) throws -> PublicKeyPin {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER)
    }

    func pins(_ id: String) throws -> [PublicKeyPin] { try (families[id] ?? []).map { try Self.pin($0.certificate) } }

    /// Returns the arguments that make a command ask a loopback server and trust the minted roots.
    func arguments(_ server: LoopbackTLSServer) -> [String] {
        ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors, "--families", file]
    }
}
