internal import FoundationEssentials
internal import Glibc
internal import Pintle
internal import PintleTestKit

/// The files of a demonstration that `--keep` leaves.
struct DemoFolder {
    /// The absolute path.
    let path: String

    /// Commands to try with the files.
    var suggestions: [String] {
        [
            "pintle inspect \(path)/policy.json",
            "pintle pin \(path)/server.pem \(path)/intercepted.pem",
            "pintle lint \(path)/policy-expired.json",
        ]
    }

    /// Writes certificates (no keys) and policies into a new folder under `parent`.
    static func write(_ stage: DemoStage, under parent: String, at now: Date) throws(ToolError) -> DemoFolder {
        var template = Array("\(parent)/pintle-demo-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw failure(parent) }
        let folder = DemoFolder(path: String(cString: made))
        try folder.write(Array(stage.authority.certificate.pem.utf8), to: "authority.pem")
        try folder.write(Array(stage.interceptor.certificate.pem.utf8), to: "interceptor.pem")
        try folder.write(Array(stage.original.chainPEM.utf8), to: "server.pem")
        try folder.write(Array(stage.renewed.chainPEM.utf8), to: "renewed.pem")
        try folder.write(Array(stage.rotated.chainPEM.utf8), to: "rotated.pem")
        try folder.write(Array(stage.intercepted.chainPEM.utf8), to: "intercepted.pem")
        try folder.write(Array(stage.stranger.chainPEM.utf8), to: "unknown.pem")
        try folder.write(try stage.policy().json(), to: "policy.json")
        try folder.write(
            try stage.policy(expiry: DemoStage.passedExpiry(at: now)).json(), to: "policy-expired.json")
        return folder
    }

    private func write(_ bytes: [UInt8], to name: String) throws(ToolError) {
        let target = "\(path)/\(name)"
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(target) }
        defer { Glibc.close(descriptor) }
        guard ByteSink(descriptor: descriptor).write(bytes) else { throw Self.failure(target) }
    }

    private static func failure(_ path: String) -> ToolError {
        let reason = String(cString: strerror(errno))
        return .unusable("unwritable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path)
    }
}
