#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Returns the seconds that `body` takes. `ContinuousClock` requires a newer macOS than this package.
func secondsTaken(by body: () throws -> Void) rethrows -> Double {
    let start = Date()
    try body()
    return Date().timeIntervalSince(start)
}

extension String {
    /// Returns whether the string contains a text. Without Foundation, the standard library's search requires a newer
    /// macOS than this package.
    func contains(_ text: String) -> Bool {
        var rest = utf8[...]
        while !rest.starts(with: text.utf8) {
            if rest.isEmpty { return false }
            rest = rest.dropFirst()
        }
        return true
    }

    /// Returns the string with each occurrence of a text replaced. The standard library's `replacing` requires a newer
    /// macOS than this package.
    func replacingText(_ old: String, with new: String) -> String {
        var result = ""
        var rest = self[...]
        while let first = rest.first {
            if rest.utf8.starts(with: old.utf8) {
                result += new
                rest = rest[rest.utf8.index(rest.startIndex, offsetBy: old.utf8.count)...]
            } else {
                result.append(first)
                rest.removeFirst()
            }
        }
        return result
    }
}
