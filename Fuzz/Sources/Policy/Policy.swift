import FoundationEssentials

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools

/// The lint reports an error exactly if parsing fails. A parsed policy is printed in a form that parses to the same
/// policy. Every rule decides about its own host.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let report = PolicyLint(at: Date(timeIntervalSince1970: 1_800_000_000)).report(on: input)
    do throws(PolicyError) {
        let policy = try PinningPolicy(json: input)
        guard report.findings.allSatisfy({ $0.severity == .warning }), report.policy != nil
        else { fatalError("lint finds an error in what is read") }
        let printed = policy.json()
        guard try PinningPolicy(json: printed).json() == printed else { fatalError("printed differently") }
        for (index, rule) in policy.hosts.enumerated() {
            let endpoint = ServerEndpoint(host: rule.host, port: rule.port ?? 443)
            guard let choice = policy.rule(for: endpoint), choice.host == rule.host,
                choice.index == index || rule.port == nil
            else { fatalError("\(rule.host) is not governed by its rule") }
        }
    } catch {
        guard report.findings.contains(where: { $0.severity == .error }), !error.problems.isEmpty
        else { fatalError("lint finds nothing: \(error)") }
        let lines = error.problems.map { $0.line ?? 0 }
        guard lines.allSatisfy({ 1...count + 1 ~= $0 }) else { fatalError("a problem without a place: \(error)") }
    }
    return 0
}
