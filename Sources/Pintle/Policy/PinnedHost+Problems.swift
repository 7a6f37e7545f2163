extension PinnedHost {
    /// The problems of the rule, with places relative to the rule. The list may exceed `PolicyError.maximumProblems` a
    /// little, which tells the caller that there are too many.
    package var problems: [PolicyProblem] {
        var problems: [PolicyProblem] = []
        if let alias = AddressAlias(host) {
            problems.append(unusable("\(alias.message), so the rule would cover no server", help: alias.hint))
        } else if host.ipAddress?.isForGroup == true {
            problems.append(
                unusable(
                    "\(host) is an address of a group of hosts, and no server has it",
                    help: "write the address of the server"))
        }
        if includesSubdomains, host.ipAddress != nil {
            problems.append(
                PolicyProblem(
                    id: "address-with-subdomains", at: .member("includeSubdomains"),
                    message: "\(host) is an address and has no sub-domains", help: "leave includeSubdomains out"))
        }
        if port == 0 {
            problems.append(
                PolicyProblem(
                    id: "invalid-port", at: .member("port"), message: "there is no port 0",
                    help: "write a port from 1 to 65535, or leave it out for every port"))
        }
        if let length = minimumPathLength, !PathTerms.lengths.contains(length) {
            let lengths = PathTerms.lengths
            problems.append(
                PolicyProblem(
                    id: "invalid-path-length", at: .member("minimumPathLength"), message: "\(length) is out of range",
                    help: "write a number from \(lengths.lowerBound) to \(lengths.upperBound): certificates, leaf and "
                        + "anchor counted"))
        }
        problems += pinProblems
        problems += anchorProblems
        return problems
    }

    private func unusable(_ message: String, help: String) -> PolicyProblem {
        PolicyProblem(id: "invalid-host", at: .member("host"), message: message, help: help)
    }

    private var pinProblems: [PolicyProblem] {
        if pins.isEmpty, !backupPins.isEmpty {
            return [
                PolicyProblem(
                    id: "backup-without-pin", at: .member("pins"), message: "\(self) has backup pins and no pin in use",
                    help: "add the pin of the key in use: pintle pin \(self)")
            ]
        }
        var problems: [PolicyProblem] = []
        if !pins.isEmpty, backupPins.isEmpty, enforcement == .enforce, backupRequirement == .required {
            let count = pins.count == 1 ? "one pin" : "\(pins.count) pins"
            let move = pins.count == 1 ? "" : "; or move one of them to backupPins, if its key is not in use yet"
            problems.append(
                PolicyProblem(
                    id: "no-backup-pin", at: .member("backupPins"),
                    message: "\(self) enforces \(count) and has no backup",
                    help: "make a key, keep it offline, add its pin: pintle pin backup.key\(move)"))
        }
        var seen: Set<Pin> = []
        for (key, list) in [("pins", pins), ("backupPins", backupPins)] {
            for (index, pin) in list.enumerated() where !seen.insert(pin).inserted {
                guard problems.count <= PolicyError.maximumProblems else { return problems }
                problems.append(
                    PolicyProblem(
                        id: "duplicate-pin", at: .member(key)[index], message: "\(pin) stands in \(self) twice",
                        help: key == "pins" ? "remove one" : "a backup is another key than the one in use"))
            }
        }
        if requires == .leafAndCA { problems += leafAndCAProblems }
        return problems
    }

    private var leafAndCAProblems: [PolicyProblem] {
        let all = pins + backupPins
        if all.contains(where: { $0.position == .any }) {
            return [
                PolicyProblem(
                    id: "pin-without-position", at: .member("requires"),
                    message: "leafAndCA needs every pin of \(self) to say where it belongs",
                    help: "write {\"spki\": \"sha256/...\", \"at\": \"leaf\"} or \"at\": \"ca\"")
            ]
        }
        guard pins.contains(where: { $0.position == .leaf }), pins.contains(where: { $0.position == .ca }) else {
            return [
                PolicyProblem(
                    id: "leaf-and-ca-incomplete", at: .member("requires"),
                    message: "leafAndCA needs a pin at the leaf and one at a ca in \(self)",
                    help: "add the missing one, or require anyPin")
            ]
        }
        return []
    }

    private var anchorProblems: [PolicyProblem] {
        if !anchors.includesSystem, anchors.certificates.isEmpty {
            return [
                PolicyProblem(
                    id: "no-anchors", at: .member("anchors"), message: "\(self) trusts no root at all",
                    help: "name the private root in anchors.include, or set anchors.system to true")
            ]
        }
        if !anchors.certificates.isEmpty, includesSubdomains, host.ipAddress == nil, host.labels.count == 1 {
            return [
                PolicyProblem(
                    id: "anchors-too-broad", at: .member("anchors"),
                    message: "private anchors for every host under \"\(host)\"",
                    help: "name the hosts that the private root signs for")
            ]
        }
        return []
    }
}
