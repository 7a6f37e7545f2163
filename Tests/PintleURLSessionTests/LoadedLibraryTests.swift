import COpenSSL
import Foundation
import PintleOpenSSL
import Testing

@testable import PintleTLSClient
@testable import PintleURLSession

@Suite("Loaded libraries")
struct LoadedLibraryTests {
    private static let wanted = ProcessInfo.processInfo.environment["PINTLE_LIBRARIES"] ?? ""

    @Test(
        "The process has loaded the OpenSSL and the libcurl that make modern wants",
        .enabled(if: !wanted.isEmpty, "skipped: only make modern asks for libraries"))
    func versions() {
        print("loaded: \(String(cString: OpenSSL_version(OPENSSL_VERSION))), libcurl \(CurlLibrary.version)")
        let versions = Self.wanted.split(separator: " ")
        #expect(versions.count == 2)
        #expect(openSSLVersion.hasPrefix(versions.first ?? "?"))
        #expect(CurlLibrary.version.hasPrefix(versions.last ?? "?"))
        // libcurl uses the same OpenSSL.
        #expect(CurlLibrary.refusal == nil)
    }
}
