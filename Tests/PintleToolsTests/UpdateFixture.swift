import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// A folder with published updates.
struct UpdateFixture {
    let directory: TemporaryDirectory
    /// 2026-11-20T12:00:00Z.
    let now = Date(timeIntervalSince1970: 1_795_176_000)
    let key: String
    let policy: String

    static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    static let backup = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="
    static let other = "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI="

    static func policy(
        pin: String = pin, backup: String = backup, host: String = "example.com", more: String = ""
    ) -> String {
        """
        {"version": 1\(more), "hosts": [{"host": "\(host)", "pins": ["\(pin)"], "backupPins": ["\(backup)"]}]}
        """
    }

    init() throws {
        directory = try TemporaryDirectory()
        key = directory.path(of: "update.key")
        policy = try directory.write(Self.policy(), to: "policy.json")
        try #require(ToolRun("keygen", "--out", key).code == 0)
    }

    func path(_ name: String) -> String { directory.path(of: name) }

    @discardableResult
    func run(_ arguments: String..., environment: [String: String] = ["LANG": "C.UTF-8"]) -> ToolRun {
        ToolRun(arguments: arguments, environment: environment, now: now)
    }

    /// Signs the policy as version `version` and returns the path of the update.
    @discardableResult
    func sign(_ version: Int, by key: String? = nil, policy: String? = nil, to name: String = "update.json") throws
        -> String
    {
        let path = path(name)
        let run = run(
            "sign", "--key", key ?? self.key, "--version", "\(version)", "--expires", "2027-02-18T00:00:00Z",
            policy ?? self.policy, "-o", path)
        try #require(run.code == 0, "\(run.errors)")
        return path
    }

    func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    func text(_ path: String) throws -> String {
        String(decoding: try directory.read(String(path.dropFirst(directory.path.count + 1))), as: UTF8.self)
    }
}
