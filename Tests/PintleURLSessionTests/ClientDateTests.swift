import Foundation
import Pintle
import PintleEvents
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleOpenSSL
@testable import PintleURLSession

/// A certificate is valid in its first second and in the whole of its last one (RFC 5280 section 4.1.2.5).
@Suite("The dates of a client's certificate")
struct ClientDateTests {
    private let fixture: ClientCertificateTests.Fixture

    init() throws {
        fixture = try ClientCertificateTests.Fixture()
    }

    private final class Log: TrustEventObserver {
        private let texts = Mutex<[String]>([])
        func observe(_ event: TrustEvent) {
            if case .session(let event) = event { texts.withLock { $0.append("\(event)") } }
        }
        func take() -> [String] {
            texts.withLock { texts in
                defer { texts = [] }
                return texts
            }
        }
    }

    /// Returns instants, and the misfit of each.
    private var instants: [(Date, IdentityMisfit?)] {
        let validity = fixture.identity.validity
        return [
            (validity.notBefore - 1, .notYetValid), (validity.notBefore - 0.001, .notYetValid),
            (validity.notBefore, nil),
            (validity.notAfter, nil), (validity.notAfter + 0.999, nil), (validity.notAfter + 1, .expired),
        ]
    }

    @Test("The identity does not fit in the second before the first and in the one after the last, and fits in these")
    func misfits() throws {
        let (client, server) = (try BareTLSClient(), try fixture.servers.server())
        #expect(try client.connect(to: server.port, naming: "localhost"))
        let ssl = try #require(client.ssl)
        for (instant, misfit) in instants {
            let found = fixture.identity.misfits(on: ssl, at: instant).filter { [.notYetValid, .expired].contains($0) }
            #expect(found == [misfit].compactMap(\.self), "\(instant)")
        }
    }

    @Test("A session reports an identity that it showed in these seconds")
    func reports() async throws {
        let (policy, log) = (try fixture.servers.policy(), Log())
        let generation = PolicyGeneration(policy.current, of: policy, validator: PathValidator(), observer: log)
        let server = ServerEndpoint(host: try ServerName("localhost"))
        for (instant, misfit) in instants {
            generation.reportDates(of: fixture.identity, for: server, at: instant)
            await TrustEventFeed.shared.waitForEvents()
            let texts = log.take()
            #expect(texts.count == (misfit == nil ? 0 : 1), "\(instant)")
            let end = misfit == .expired ? "has expired" : "is not valid yet"
            #expect(texts.allSatisfy { $0.contains(end) }, "\(texts)")
        }
    }
}
