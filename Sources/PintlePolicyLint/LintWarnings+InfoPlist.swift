internal import Pintle

/// Warnings about keys that an app's Info.plist lacks.
extension LintWarnings {
    mutating func lookAtInfoPlist(_ infoPlist: InfoPlistPins, _ policy: PinningPolicy) {
        // The names to compare under each rule: its own, and those of the file that it decides.
        var names: [[ServerName]] = hosts.map { [$0.host] }
        let ports = Set(hosts.map { $0.port ?? 443 })
        for name in infoPlist.entries.keys.sorted(by: { $0.description < $1.description }) {
            let indices = Set(ports.compactMap { policy.rule(for: ServerEndpoint(host: name, port: $0))?.index })
            for index in indices where hosts[index].host != name { names[index].append(name) }
        }
        let update =
            policy.updateVersion > 0 || policy.allowsUpdatesForAnyHost ? ", also if a signed update brings the key" : ""
        for (index, host) in hosts.enumerated() {
            let pinned = names[index].compactMap { name in infoPlist.pins(for: name).map { (name, $0) } }
            guard !pinned.isEmpty else { continue }
            for (list, pins) in [("pins", host.pins), ("backupPins", host.backupPins)] {
                for (position, pin) in pins.enumerated() {
                    guard let key = pin.key, let (name, _) = pinned.first(where: { $1.lacks(key, at: pin.position) })
                    else { continue }
                    warn(
                        "info-plist-lacks-key", .rule(index)[list][position],
                        "\(infoPlist.file) pins \(name) without this key, so the system refuses a server that shows it"
                            + update,
                        help:
                            "add it there, as pintle sync does; release that before a server or an update uses the key")
                }
            }
        }
    }
}
