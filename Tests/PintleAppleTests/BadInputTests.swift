import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// Challenges that say nothing about the server. Each is refused with a reason, and none gets default handling.
@Suite("Apple: challenges without a server's certificates")
struct BadInputTests {
    private static func challenge(_ trust: SecTrust?) -> URLAuthenticationChallenge {
        .asked(.serverTrust(trust, host: "localhost", port: 443))
    }

    private static func trust(_ certificates: [[UInt8]]) throws -> SecTrust? {
        try SessionFixture.challenge(certificates).protectionSpace.serverTrust
    }

    @Test("A challenge without trust, or with a trust object without certificates, is refused with a reason")
    func empty() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let policy = try fixture.policy(anchors: .system)
        let url = try #require(URL(string: "https://localhost/"))
        let cancelled = URLError(.cancelled, userInfo: [NSURLErrorFailingURLErrorKey: url])
        for (trust, reason) in [
            (nil, "invalid-path"), (try Self.trust([]), "invalid-path"), (try Self.trust(fixture.identity.chain), nil),
        ] {
            let session: URLSession = .pinned(to: policy)
            let pinning = try #require(session.delegate as? PinningSessionDelegate)
            for delegate in [pinning, pinning.guarding(EmptyDelegate()), session.guarding(EmptyDelegate())] {
                let task = session.dataTask(with: url)
                let answers = [
                    await answer {
                        delegate.urlSession(session, didReceive: Self.challenge(trust), completionHandler: $0)
                    },
                    await answer {
                        delegate.urlSession(
                            session, task: task, didReceive: Self.challenge(trust), completionHandler: $0)
                    },
                ]
                let expected =
                    reason == nil
                    ? URLSession.AuthChallengeDisposition.performDefaultHandling : .cancelAuthenticationChallenge
                #expect(answers == [expected, expected])
                let explained = session.explain(cancelled)
                #expect(TrustRejection(underlying: explained)?.reason == reason)
                #expect(TrustRejection(underlying: explained)?.pathFailure?.code == (reason == nil ? nil : .emptyChain))
            }
            session.invalidateAndCancel()
        }
    }

    private func answer(
        _ ask: (@escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void
    ) async -> URLSession.AuthChallengeDisposition {
        await withCheckedContinuation { continuation in
            ask { disposition, _ in continuation.resume(returning: disposition) }
        }
    }
}
