import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

/// The work that a signed update can cause, counted in comparisons.
@Suite("The scope of a large update takes little work")
struct ScopeWorkTests {
    private static func rule(_ host: String, port: UInt16? = nil, wide: Bool = false) throws -> PinnedHost {
        try PinnedHost(host, port: port, includingSubdomains: wide, anchors: .system)
    }

    private func work(
        _ bundled: [PinnedHost], _ update: [PinnedHost], allowance: Int = EffectiveRules.allowance
    ) -> (comparisons: Int, isComplete: Bool) {
        var rules = EffectiveRules(bundled: bundled, update: update, allowance: allowance)
        let isComplete = rules.visit { _, _ in 0 }
        return (rules.comparisons, isComplete)
    }

    @Test("Twice the rules need twice the comparisons", arguments: [100, 400])
    func linear(count: Int) throws {
        func rules(_ count: Int) throws -> [PinnedHost] {
            try (0..<count).flatMap { number in
                [
                    try Self.rule("h\(number).a.example.com", wide: true),
                    try Self.rule("x.h\(number).a.example.com", port: 443),
                ]
            }
        }
        let (one, two) = (try rules(count), try rules(2 * count))
        let control = work(one, one + [try Self.rule("new.h1.a.example.com")])
        let twice = work(two, two + [try Self.rule("new.h1.a.example.com")])
        #expect(control.isComplete && twice.isComplete)
        #expect(twice.comparisons <= 2 * control.comparisons + 10, "\(control.comparisons), \(twice.comparisons)")
    }

    @Test("A name needs two comparisons, and two more for each port at which the rules above it differ")
    func exact() throws {
        let (any, address) = (try Self.rule("b.example.net"), try Self.rule("192.0.2.1"))
        #expect(work([], []).comparisons == 0)
        #expect(work([any], [any]).comparisons == 2)
        #expect(work([address], [address]).comparisons == 1)
        // The port does not count beside its host.
        #expect(work([any], [any, try Self.rule("a.example.com", port: 443, wide: true)]).comparisons == 6)
        // A name without a rule for all ports inherits the port's rule as it is.
        let port = try Self.rule("x.example.com", port: 80)
        #expect(work([port], [port, try Self.rule("example.com", port: 443, wide: true)]).comparisons == 8)
    }

    @Test("An update may use as many comparisons as are allowed, and not one more")
    func limit() throws {
        let any = try Self.rule("example.com")
        #expect(EffectiveRules(bundled: [any], update: [any, any]).maximumComparisons == 1_048_576 + 48)
        #expect(work([any], [any], allowance: 2 - 32).isComplete)
        #expect(!work([any], [any], allowance: 1 - 32).isComplete)
    }

    @Test("A port that both policies name above many hosts is compared once")
    func sharedPorts() throws {
        let hosts = try (0..<400).map { try Self.rule("h\($0).example.com") }
        let ports = try (1...100).map { try Self.rule("example.com", port: $0, wide: true) }
        let control = work(hosts, hosts + [try Self.rule("x.h1.example.com")])
        let shared = work(hosts + ports, hosts + ports + [try Self.rule("x.h1.example.com")])
        #expect(shared.isComplete)
        #expect(shared.comparisons <= control.comparisons + 4 * ports.count)
    }

    @Test("An update with too many ports above too many hosts is refused")
    func hostile() throws {
        let hosts = try (0..<200).map { try Self.rule("h\($0).example.com") }
        let bundled = [try Self.rule("example.com", wide: true)] + hosts
        func added(_ count: Int) throws -> [PinnedHost] {
            try (1...count).map { try Self.rule("example.com", port: UInt16($0), wide: true) }
        }
        // As many ports as hosts, beyond a smaller allowance. The real allowance differs only in size.
        #expect(EffectiveRules(bundled: [], update: []).maximumComparisons == 1_048_576)
        let allowance = 4_096
        let hostile = work(bundled, bundled + (try added(200)), allowance: allowance)
        #expect(!hostile.isComplete)
        #expect(hostile.comparisons <= allowance + 16 * 602 + 1, "\(hostile.comparisons)")
        #expect(work(bundled, bundled + (try added(200))).comparisons > 4 * hostile.comparisons)
        let scope = UpdateScope(bundled: try PinningPolicy(hosts: bundled), allowance: allowance)
        let refused = scope.problems(of: EmbeddedPolicy(try PinningPolicy(hosts: bundled + (try added(200)))))
        #expect(refused.map(\.path) == ["hosts"])
        // Counter-check: a few ports are accepted.
        #expect(scope.problems(of: EmbeddedPolicy(try PinningPolicy(hosts: bundled + (try added(20))))).isEmpty)
    }

    @Test("A large set of anchors is compared once with each other set, whatever the number of hosts")
    func anchors() throws {
        let roots = try (0..<40).map { try Certificate(der: CertificateAuthority.root(name: "R\($0)").certificate.der) }
        let anchors = TrustAnchors(roots, includesSystem: false)
        var comparison = AnchorComparison()
        let other = TrustAnchors(roots.reversed(), includesSystem: false)
        let answers = Set((0..<1_000).map { _ in comparison.isNoWider(anchors, than: other) })
        #expect(answers == [true])
        #expect(comparison.work == 80)
        let fewer = comparison.isNoWider(anchors, than: TrustAnchors(Array(roots.dropFirst()), includesSystem: false))
        #expect(!fewer)
        // The answer that is kept is the same.
        let again = comparison.isNoWider(anchors, than: TrustAnchors(Array(roots.dropFirst()), includesSystem: false))
        #expect(!again)
        let work = comparison.work
        let system = comparison.isNoWider(.system, than: other)
        #expect(!system && comparison.work == work)
    }
}
