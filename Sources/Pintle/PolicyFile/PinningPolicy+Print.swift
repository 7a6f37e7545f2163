extension PinningPolicy {
    /// The policy as a file, UTF-8: what ``init(json:)`` reads as an equal policy, but for fractions of a second.
    ///
    /// One spelling for equal policies: keys in a fixed order, defaults left out, one notation for pins, dates in UTC
    /// with whole seconds, anchors as PEM text.
    public func json() -> [UInt8] {
        var json = JSONWriter(.pretty)
        write(to: &json)
        return json.bytes + [UInt8(ascii: "\n")]
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("version", Int(PolicyFileKeys.formatVersion))
            if updateVersion != 0 { $0.member("updateVersion", updateVersion) }
            if unpinnedHosts != .systemTrust { $0.member("unpinnedHosts", unpinnedHosts.rawValue) }
            if allowsUpdatesForAnyHost {
                $0.object("updates") { $0.member("anyHost", true) }
            }
            $0.array("hosts") { for host in hosts { host.write(to: &$0) } }
        }
    }
}

extension PinnedHost {
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("host", host.description)
            $0.member("port", port.map(Int.init))
            if includesSubdomains { $0.member("includeSubdomains", true) }
            if !pins.isEmpty { $0.array("pins") { for pin in pins { pin.write(to: &$0) } } }
            if !backupPins.isEmpty {
                $0.array("backupPins") { for pin in backupPins { pin.write(to: &$0) } }
            } else if backupRequirement == .noneAccepted {
                $0.member("backupPins", PolicyFileKeys.noneAccepted)
            }
            if requires != .anyPin { $0.member("requires", requires.rawValue) }
            expiry.write(to: &$0)
            if enforcement != .enforce { $0.member("enforcement", enforcement.rawValue) }
            anchors.write(to: &$0)
            $0.member("minimumPathLength", minimumPathLength)
            $0.member("issuerKey", issuerKey?.description)
            if !reportTo.isEmpty { $0.member("reportTo", reportTo) }
            $0.member("withdraws", withdrawalReason)
        }
    }
}

extension Pin {
    package func write(to json: inout JSONWriter) {
        if case .publicKey(let pin) = subject, position == .any { return json.value(pin.description) }
        json.object {
            switch subject {
            case .publicKey(let pin): $0.member("spki", pin.description)
            case .certificate(let pin): $0.member("certificate", pin.description)
            }
            if position != .any { $0.member("at", position.rawValue) }
        }
    }
}

extension PinExpiry {
    fileprivate func write(to json: inout JSONWriter) {
        guard let date else { return }
        let action: PolicyFileKeys.ExpiryAction =
            if case .rejecting = self { .reject } else { .systemTrust }
        json.object("expiry") {
            $0.member("after", RFC3339.string(from: date))
            $0.member("then", action.rawValue)
        }
    }
}

extension TrustAnchors {
    fileprivate func write(to json: inout JSONWriter) {
        if includesSystem, certificates.isEmpty { return }
        json.object("anchors") {
            if !certificates.isEmpty {
                $0.member("include", certificates.map { PEMBlock.text(label: "CERTIFICATE", bytes: $0.der) })
            }
            if includesSystem { $0.member("system", true) }
        }
    }
}
