// Loads the images of SwiftUI's views in a pinned session.

// Compiled on Apple's systems with the SDK of iOS 27, and on Linux by `make test-apple`, with stand-ins for their
// modules.
#if canImport(PintleApple) && canImport(WebKit) && (compiler(>=6.4) || PINTLE_SDK_27)
import Foundation
import PintleURLSession
import SwiftUI

#if canImport(URLLoading)
// On Linux, `make test-apple` has its stand-in for URLSession in this module.
import URLLoading
#endif

@available(iOS 27, macOS 27, tvOS 27, watchOS 27, visionOS 27, *)
struct Pictures: View {
    let session: URLSession

    init(_ policy: PinningPolicy) {
        session = .pinned(to: policy)
    }

    var body: some View {
        AsyncImage(url: URL(string: "https://example.com/icon.png")).asyncImageURLSession(session)
    }
}
#endif
