import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// A process whose descriptors or threads are used up, for example by clients that open many connections to it.
    // Excluded with a sanitizer, which ends a process in its own way and with its own status.
    @Suite("Exhausted resources", .enabled(if: dlsym(nil, "__asan_init") == nil, "no sanitizer is at work"))
    struct ExhaustionTests {
        /// A resource of a process that a session needs.
        enum Resource: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
            case descriptors, threads

            var testDescription: String { rawValue }

            /// Uses all that is left of the resource. Returns a closure that makes it available again.
            func exhaust() throws -> () -> Void {
                switch self {
                case .descriptors:
                    var limit = rlimit(rlim_cur: 256, rlim_max: 256)
                    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                    var taken: [CInt] = []
                    while case let number = open("/dev/null", O_RDONLY), number >= 0 { taken.append(number) }
                    return { for number in taken { close(number) } }
                case .threads:
                    // The limit does not apply to root. 6 is RLIMIT_NPROC.
                    if geteuid() == 0 { try #require(setuid(65_534) == 0) }
                    var limit = rlimit()
                    try #require(getrlimit(__rlimit_resource_t(6), &limit) == 0)
                    let before = limit.rlim_cur
                    limit.rlim_cur = 0
                    try #require(setrlimit(__rlimit_resource_t(6), &limit) == 0)
                    return {
                        limit.rlim_cur = before
                        setrlimit(__rlimit_resource_t(6), &limit)
                    }
                }
            }
        }

        private static func policy(_ root: [UInt8], _ hosts: [String] = ["localhost"]) throws -> PinningPolicy {
            try PinningPolicy(
                hosts: hosts.map { try PinnedHost($0, pins: [Pin](), anchors: .only([try Certificate(der: root)])) })
        }

        @Test(
            "A session that gets no descriptor or no thread fails the request at once, and works when there are some again",
            arguments: Resource.allCases, [true, false])
        func exhausted(resource: Resource, afterPolicyChange: Bool) async throws {
            let fixture = try SessionFixture()
            let server = try fixture.server()
            let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
            await #expect(processExitsWith: .success) {
                [url = url as String, root = root as [UInt8], resource = resource as Resource, afterPolicyChange] in
                // A session that hangs ends the process.
                alarm(60)
                let address = try #require(URL(string: url))
                let policy = LivePolicy(try Self.policy(root))
                let session = URLSession.pinned(to: policy)
                if afterPolicyChange {
                    _ = try await session.data(from: address)
                    policy.replace(with: try Self.policy(root, ["localhost", "www.example"]))
                }
                let restore = try resource.exhaust()
                let error = await #expect(throws: URLError.self) { try await session.data(from: address) }
                #expect(error?.refusal == .outOfResources)
                #expect(error?.code == .cannotConnectToHost)
                #expect(error?.isAboutTrust == false)
                restore()
                #expect(try await session.data(from: address).0.count == 3)
            }
            #expect(server.requests.count == (afterPolicyChange ? 2 : 1))
        }
    }
}
