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
        let position = position.map { ", \"pinsAt\": \"\($0.rawValue)\"" } ?? ""
        return "{\"version\": 1, \"policy\": \(JSONWriter.quoted(policy)), \"targets\": [{\"format\": "
            + "\"\(format.rawValue)\", \"file\": \(JSONWriter.quoted(path))\(position)}]}"
    }
}
