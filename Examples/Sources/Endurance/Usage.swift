import Foundation
import PintleStorage

/// The resources of this process, from proc(5).
enum Usage {
    static var threads: Int { status("Threads:") }

    static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    /// The peak of resident memory in KiB.
    static var peak: Int { status("VmHWM:") }

    /// Resets the peak and returns the currently resident memory in KiB.
    static func restartPeak() -> Int {
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        return status("VmRSS:")
    }

    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
}
