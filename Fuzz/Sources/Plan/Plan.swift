import FoundationEssentials

@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools

/// `pintle plan` on any file gives a plan or a list of problems. A plan can be simulated, its report is JSON, and its
/// page has only its own markup. Each problem has a place in the file.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let plan: RotationPlan
    do throws(ToolError) {
        let policy = { (path: String) throws(ToolError) -> PinningPolicy in
            guard let named else { throw .unusable("no-policy", path) }
            return named
        }
        plan = try PlanReader.read(input, file: "plan", isPublicSuffix: { _ in false }, policyFile: policy)
    } catch {
        let lines = input.count { $0 == UInt8(ascii: "\n") } + 1
        let isPlaced = error.all.allSatisfy { problem in
            problem.file == "plan" && problem.line.map { 1...lines ~= $0 } == true && (problem.column ?? 0) >= 1
        }
        guard isPlaced, error.all.count <= ValueLimits.problems, error.exitCode == .unusable else {
            fatalError("a problem without a place: \(error)")
        }
        return 0
    }
    let isSmall = plan.apps.count <= 4 && plan.updates.count <= 3 && plan.keys.count <= 8 && plan.servers.count <= 2
    guard isSmall, plan.until.wholeSeconds > -60_000_000_000 else { return 0 }
    // Simulate only the last month, so that it takes no longer than parsing.
    let now = plan.until.addingDays(-30)
    do throws(ToolError) {
        let report = PlanReport(
            try PlanSimulation(plan, now: now), families: AuthorityFamilies(date: now, families: [], edges: []))
        let document = report.document.bytes
        guard (try? JSONDocument(document, limits: .init(allowsAnyNumber: true))) != nil else {
            fatalError("the report is no JSON")
        }
        guard report.isIncomplete || !plan.apps.isEmpty, !report.notSimulated.isEmpty else { fatalError("no limits") }
        var page = ""
        try ReportHTML(report.page(ofFile: "plan"), date: now).write { page += $0 }
        guard page.split(separator: "<script").count == 1, page.split(separator: "<svg").count == report.views.count + 1
        else { fatalError("foreign markup") }
    } catch {
        fatalError("a plan that was read cannot be played: \(error)")
    }
    return 0
}

private let named = try? PinningPolicy {
    try PinnedHost(
        "api.example.com", pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
}
