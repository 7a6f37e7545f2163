// The program of the plug-in PintlePolicyCheck. It checks the policy file of a target, and writes its Swift source.
internal import Pintle
internal import PintlePolicyLint
internal import PintleStorage
internal import PintleSystem
internal import PintleText

/// Prints lines for the build and ends. Xcode and SwiftPM show those that begin with a place.
func end(_ lines: [String], _ code: Int32) -> Never {
    print(lines.joined(separator: "\n"))
    exit(code)
}

let usage =
    "error: usage: PintlePolicyChecker POLICY --output FILE --date YYYY-MM-DD [--configuration FILE] "
    + "[-- CERTIFICATE...]"
let parts = CommandLine.arguments.dropFirst().split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
let words = Array(parts.first ?? [])
var options: [String: String] = [:]
for index in stride(from: 1, to: words.count, by: 2) where index + 1 < words.count {
    options[words[index]] = words[index + 1]
}
guard let path = words.first, let output = options["--output"], let day = options["--date"],
    let now = try? RFC3339.date(from: day + "T00:00:00Z"), words.count % 2 == 1
else { end([usage], 2) }

let configuration: CheckConfiguration
do throws(CheckConfiguration.Problem) {
    configuration =
        if let path = options["--configuration"] { try CheckConfiguration(contentsOfFile: path) } else {
            CheckConfiguration()
        }
} catch {
    end([error.line], 1)
}
// SwiftPM keeps the arguments of an earlier build as long as no file is added, so the day may have passed.
let check = BuildCheck(
    policyFile: path, watched: parts.count > 1 ? Array(parts[1]) : [], at: max(now, Date()),
    isStrict: configuration.isStrict)
guard let source = check.source else { end(check.lines, 1) }
if !check.lines.isEmpty { print(check.lines.joined(separator: "\n")) }
do throws(ReplacementError) {
    let file = try FileReplacement(of: output, as: output + ".new", .atMost(0o666))
    try file.write(Array(source.utf8)[...])
    try file.commit()
} catch {
    end(["\(SafeText.escape(output)): error: cannot be written: error \(error.number)"], 1)
}
