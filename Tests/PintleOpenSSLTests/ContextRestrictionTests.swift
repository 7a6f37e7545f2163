import COpenSSL
import Testing

@testable import PintleOpenSSL

/// Contexts that other code creates, such as libcurl, and that a machine's openssl.cnf may configure.
@Suite("A restricted TLS context offers only suites with certificates")
struct ContextRestrictionTests {
    private let context: OpaquePointer

    init() throws {
        context = try #require(SSL_CTX_new(TLS_client_method()))
    }

    /// Returns the suites that a connection of this context would offer.
    private func offered() throws -> [OpaquePointer] {
        let ssl = try #require(SSL_new(context))
        defer { SSL_free(ssl) }
        let suites = SSL_get1_supported_ciphers(ssl)
        defer { OPENSSL_sk_free(suites) }
        return (0..<max(0, OPENSSL_sk_num(suites))).compactMap {
            OPENSSL_sk_value(suites, $0).map { OpaquePointer($0) }
        }
    }

    private func proves(_ suite: OpaquePointer) -> Bool {
        ![NID_auth_null, NID_auth_psk, NID_auth_srp].contains(SSL_CIPHER_get_auth_nid(suite))
            && SSL_CIPHER_get_cipher_nid(suite) != NID_undef
    }

    @Test(
        "Suites without a certificate or without encryption are removed",
        arguments: ["ALL", "aNULL", "eNULL", "ALL:eNULL"])
    func unproven(_ list: String) throws {
        defer { SSL_CTX_free(context) }
        try #require(SSL_CTX_set_cipher_list(context, list + ":@SECLEVEL=0") == 1)
        #expect(try !offered().allSatisfy(proves), "the attack")
        #expect(ContextRestriction.apply(to: context))
        let left = try offered()
        #expect(left.count > 3 && left.allSatisfy(proves))
    }

    @Test("Suites with a shared key are removed for TLS 1.2 and 1.3")
    func sharedKey() throws {
        defer { SSL_CTX_free(context) }
        SSL_CTX_set_psk_client_callback(context) { _, _, _, _, _, _ in 0 }
        #expect(try !offered().allSatisfy(proves), "the attack")
        #expect(ContextRestriction.apply(to: context))
        let left = try offered()
        #expect(left.count > 3 && left.allSatisfy(proves))
    }

    @Test("An administrator's choice among the other suites is kept")
    func chosen() throws {
        defer { SSL_CTX_free(context) }
        try #require(SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256") == 1)
        let before = try offered()
        #expect(ContextRestriction.apply(to: context))
        #expect(try offered() == before)
    }
}
