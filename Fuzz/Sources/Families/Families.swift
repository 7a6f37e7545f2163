@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyLint
@testable import PintlePolicyTools

/// `--families` on any file gives families or a list of problems. Each problem has a place in the file; families can be
/// found again by every word and every root.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(ToolError) {
        let families = try FamilyFile.families(input, file: "families")
        for family in families.families {
            guard families.selection(named: family.id)?.id == family.id else { fatalError("a family without a name") }
            for pin in family.pins where families.family(ofRoot: pin)?.id != family.id {
                fatalError("a root in another family")
            }
        }
        for edge in families.edges where families.selection(named: edge.name)?.families.isEmpty != false {
            fatalError("an edge without families")
        }
    } catch {
        let lines = input.count { $0 == UInt8(ascii: "\n") } + 1
        let isPlaced = error.all.allSatisfy { problem in
            problem.file == "families" && problem.line.map { 1...lines ~= $0 } == true && (problem.column ?? 0) >= 1
        }
        guard isPlaced, error.all.count <= ValueLimits.problems, error.exitCode == .unusable else {
            fatalError("a problem without a place: \(error)")
        }
    }
    return 0
}
