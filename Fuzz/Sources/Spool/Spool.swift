import FoundationEssentials

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintleReports

/// The files of a report spool. A parsed report, state or name is printed in a form that parses to the same value
/// (dates in whole seconds). A report goes only to `https` URLs and is encoded within the limit.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    if let spooled = SpooledReport(json: input) {
        guard let written = SpooledReport(json: spooled.json), SpooledReport(json: written.json) == written else {
            fatalError("another report")
        }
        for url in spooled.addresses where ServerEndpoint(httpsURL: url) == nil { fatalError("sent to \(url)") }
        for encoding in ReportEncoding.allCases {
            guard let body = encoding.body(of: spooled.report, id: "0", age: 1, isRefused: spooled.isRefused) else {
                continue
            }
            guard body.count <= TrustFailureReport.maximumBytes, (try? JSONDocument(body)) != nil else {
                fatalError("not to be sent like this")
            }
        }
    }
    if var state = SpoolState(json: input) {
        guard SpoolState(json: state.json) == state else { fatalError("another state") }
        state.prune(at: Milliseconds(Date(timeIntervalSince1970: 1_800_000_000)), spooled: [])
        guard state.seen.count <= SpoolState.maximumSeen, state.addresses.count <= SpoolState.maximumAddresses else {
            fatalError("it grows")
        }
    }
    let text = String(decoding: input, as: UTF8.self)
    if let name = SpoolName(text), name.text != text, SpoolName(name.text) != name { fatalError("another name") }
    if let wait = RetryAfter.seconds(text, at: Date(timeIntervalSince1970: 1_800_000_000)),
        !(0...RetryAfter.longest).contains(wait)
    {
        fatalError("waits for ever")
    }
    return 0
}
