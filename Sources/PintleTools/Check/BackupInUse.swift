internal import Pintle

/// A backup pin whose key or certificate the server uses already: whoever loses the one loses the other.
struct BackupInUse {
    let pin: Pin
    let position: String
    /// On the validated path; `nil` where it was sent beside it, or where there is no path.
    let depth: Int?

    /// What is wrong, to stand behind the pin.
    var sentence: String {
        depth.map { "in the live chain at depth \($0): no backup" }
            ?? "sent by the server, not on the path: no backup"
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("pin", pin.description)
            json.member("position", position)
            json.member("depth", depth)
        }
    }
}

extension CheckFindings {
    /// Where the server uses the key or certificate of this backup pin. Where the pin says it may match does not
    /// count: the key is out of the drawer all the same.
    func use(of pin: Pin) -> BackupInUse? {
        for (index, place) in positions.places.enumerated() where place.shows(pin.subject) {
            return BackupInUse(pin: pin, position: place.position, depth: place.isOnPath ? index : nil)
        }
        return nil
    }

    var backupsInUse: [BackupInUse] { host?.backupPins.compactMap(use) ?? [] }
}

extension PathPositions.Place {
    fileprivate func shows(_ subject: Pin.Subject) -> Bool {
        switch subject {
        case .publicKey(let pin): certificate?.publicKeyPin == pin
        case .certificate(let pin): CertificatePin(certificate: der) == pin
        }
    }
}
