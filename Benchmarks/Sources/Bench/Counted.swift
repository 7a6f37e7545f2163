import CBaselines

/// The cases for which thresholds.txt has limits, by name.
func countedCases(_ material: Material) throws -> [String: () throws -> Peer] {
    let paths = { try PathSection.peers(material.leafP256, material) }
    // A thousand look-ups for each call.
    func hosts(_ kind: Int) throws -> Peer {
        let rules = Hosts.rules(1_000)
        return Hosts.peer(try Hosts.policy(rules), try Hosts.queries(rules, spread: 1_000)[kind].servers)
    }
    var cases: [String: () throws -> Peer] = [
        "path-in-handshake": { try paths()[0] },
        // Separate from the others: a connection, which the first peer makes, increases OpenSSL's cost to parse a
        // certificate.
        "path-from-der": { try PathSection.fromDER(material.leafP256, material) },
        "hosts-exact": { try hosts(0) },
        "hosts-subdomain": { try hosts(1) },
        "hosts-miss": { try hosts(2) },
        "update": { try UpdateSection.peers(rules: 28).peers[0] },
        "update-large": { try UpdateSection.peers(rules: 280).peers[0] },
        "policy": { try UpdateSection.peers(rules: 280).peers[1] },
        "signature": { try UpdateSection.peers(rules: 28).peers[2] },
        "signature-large": { try UpdateSection.peers(rules: 280).peers[2] },
    ]
    for (name, pin) in zip(["leaf-p256", "intermediate", "leaf-rsa"], PinCase.all(material)) {
        cases["pin-\(name)"] = pin.pintle
        cases["walk-\(name)"] = { try pin.baseline("C walk", BASELINE_WALK) }
    }
    return cases
}
