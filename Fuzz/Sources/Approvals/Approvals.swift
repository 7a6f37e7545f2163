@testable import Pintle
@testable import PintlePolicyFile

/// A parsed file of approvals is printed in a form that parses to the same approvals. Each approval is found by its
/// server. A parse error has a place.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(ApprovalFileError) {
        let approvals = try TrustApprovals(json: input)
        let printed = approvals.json()
        guard try TrustApprovals(json: printed) == approvals else { fatalError("printed differently") }
        guard try TrustApprovals(json: printed).json() == printed else { fatalError("two spellings") }
        for approval in approvals.all where approvals[approval.endpoint] != approval {
            fatalError("\(approval.endpoint) is not found")
        }
    } catch {
        guard 1...count + 1 ~= error.line, error.column >= 1, !error.id.isEmpty else {
            fatalError("no place: \(error)")
        }
    }
    return 0
}
