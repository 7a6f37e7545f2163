import Pintle
import PintleTestKit
import PintleTools
import Testing

@Suite("Public authorities")
struct PublicAuthorityTests {
    @Test("A root from a bundle or a folder is found by its key and by its certificate")
    func known() throws {
        let directory = try TemporaryDirectory()
        let bundled = try CertificateAuthority.root(name: "Bundled").certificate
        let alone = try CertificateAuthority.root(name: "Alone").certificate
        let stranger = try CertificateAuthority.root(name: "Alone").certificate
        let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"
        let bundle = try directory.write(broken + bundled.pem, to: "bundle.pem")
        try directory.write(alone.pem, to: "folder/0a1b2c3d.0")
        try directory.write("nothing", to: "folder/README")
        try directory.write(stranger.pem, to: "folder/below/stranger.pem")

        let authorities = PublicAuthorities(files: [bundle], folders: [directory.path(of: "folder")])
        for (root, name) in [(bundled, "CN=Bundled"), (alone, "CN=Alone"), (stranger, nil)] {
            let key = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: root.spkiDER)))
            let certificate = Pin(.certificate(CertificatePin(certificate: root.der)), at: .ca)
            #expect(authorities.name(pinnedBy: key) == name)
            #expect(authorities.name(pinnedBy: certificate) == name)
        }
    }

    @Test("The environment names other places, with colons between folders, and missing ones are ignored")
    func environment() throws {
        let directory = try TemporaryDirectory()
        let root = try CertificateAuthority.root(name: "Root").certificate
        try directory.write(root.pem, to: "roots/root.pem")
        let pin = Pin(.certificate(CertificatePin(certificate: root.der)))
        func name(_ folders: String) -> String? {
            PublicAuthorities(environment: ["SSL_CERT_FILE": directory.path(of: "gone"), "SSL_CERT_DIR": folders])
                .name(pinnedBy: pin)
        }
        #expect(name("/nowhere:\(directory.path(of: "roots"))") == "CN=Root")
        #expect(name("/nowhere") == nil)
    }
}
