internal import Pintle
internal import PintlePolicyFile

/// A file of `pintle sync` for hints.
enum SyncExample {
    static let fileName = "pintle-sync.json"

    /// Returns the text of a file with one target, for people who have none yet.
    static func text(
        policy: String = "policy.json", _ format: ForeignFormat = .ats, _ path: String = "App/Info.plist",
        pinsAt position: PinPosition? = nil
    ) -> String {
        let target = target(format, path, pinsAt: position)
        return "{\"version\": 1, \"policy\": \(JSONWriter.quoted(policy)), \"targets\": [\(target)]}"
    }

    /// Returns the advice to write the pins into an app's file.
    ///
    /// - Parameters:
    ///   - policy: the path of the policy.
    ///   - format: the format of the app's file.
    ///   - path: the app's file.
    ///   - position: the position of pins that have none.
    ///   - isThere: `true` if the file of `pintle sync` exists, which may have other targets.
    static func advice(
        policy: String, _ format: ForeignFormat, _ path: String, pinsAt position: PinPosition?, isThere: Bool
    ) -> String {
        let step =
            isThere
            ? "add \(target(format, path, pinsAt: position)) to \"targets\" in \(fileName)"
            : "put \(text(policy: policy, format, path, pinsAt: position)) into \(fileName)"
        return "pintle sync writes only the pins into it: \(step), and run pintle sync"
    }

    private static func target(_ format: ForeignFormat, _ path: String, pinsAt position: PinPosition?) -> String {
        let position = position.map { ", \"pinsAt\": \"\($0.rawValue)\"" } ?? ""
        return "{\"format\": \"\(format.rawValue)\", \"file\": \(JSONWriter.quoted(path))\(position)}"
    }
}
