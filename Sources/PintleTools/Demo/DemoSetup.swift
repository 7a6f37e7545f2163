internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTestKit

/// The setup of the demonstration: an authority, a server with its keys, someone in between, and the policies of the
/// app.
struct DemoSetup {
    let endpoint: ServerEndpoint
    let authority: CertificateAuthority
    let interceptor: CertificateAuthority
    /// The server at the release of the app.
    let original: Identity
    /// The same key in a new certificate.
    let renewed: Identity
    /// The server with its backup key.
    let rotated: Identity
    /// The server with a key that the app did not know at its release.
    let replaced: Identity
    let intercepted: Identity
    /// A device at home that signs for itself.
    let stranger: Identity
    /// Takes the app's reports.
    let collector: Identity
    private let pin: Pin
    private let backup: Pin

    init() throws(ToolError) {
        do {
            endpoint = ServerEndpoint(host: try ServerName("example.test"))
            let hosts = ["example.test"]
            authority = try CertificateAuthority.root(name: "Demo Authority")
            interceptor = try CertificateAuthority.root(name: "Interceptor's Authority")
            original = try authority.issue(hosts: hosts)
            renewed = try original.renewed(by: authority)
            rotated = try authority.issue(hosts: hosts)
            replaced = try authority.issue(hosts: hosts)
            intercepted = try interceptor.issue(hosts: hosts)
            stranger = try Identity.selfSigned(hosts: ["nas.test"])
            collector = try authority.issue(hosts: ["reports.test"])
            pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: original.key.spkiDER)))
            backup = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: rotated.key.spkiDER)))
        } catch {
            throw .unusable("no-certificates", "the demonstration's certificates cannot be made: \(error)")
        }
    }

    /// The app's policy: one pin, one backup.
    func policy(
        expiry: PinExpiry = .never, unpinnedHosts: PinningPolicy.UnpinnedHosts = .systemTrust,
        reportTo: [String] = []
    ) throws(ToolError) -> PinningPolicy {
        do throws(PolicyError) {
            let rule = try PinnedHost(
                endpoint.host.description, pins: [pin], backupPins: [backup], expiry: expiry, reportTo: reportTo)
            return try PinningPolicy(hosts: [rule], unpinnedHosts: unpinnedHosts)
        } catch {
            throw ToolError(error, file: "demo")
        }
    }

    /// Returns yesterday as the expiry, for pins that were not renewed.
    static func passedExpiry(at now: Date) -> PinExpiry { .systemTrust(after: now.addingTimeInterval(-86_400)) }

    /// - Parameter folder: the folder for the updates of the story's app; it is removed at the end.
    func scenes(at now: Date, under folder: String) throws(ToolError) -> [DemoScene] {
        let anchors = try trusted()
        let policy = try policy()
        func scene(
            _ number: Int?, _ title: String, _ identity: Identity, by policy: PinningPolicy,
            host: ServerEndpoint? = nil,
            isInterception: Bool = false, expecting expected: DemoVerdict,
            remark: @escaping (DemoResult) -> String
        ) -> DemoScene {
            DemoScene(
                number: number, title: title, endpoint: host ?? endpoint, identity: identity, policy: policy,
                anchors: anchors, isInterception: isInterception, expected: expected, remark: remark)
        }
        let updates = try rotation(at: now, under: folder)
        let reports = try DemoReports(collector: collector, anchors: anchors, under: folder)
        var reported = scene(
            9, "an interceptor, the collector down", intercepted, by: try self.policy(reportTo: [DemoReports.address]),
            isInterception: true, expecting: .rejected(.pinMismatch)
        ) { $0.aftermath?.text ?? "" }
        reported.aftermath = { failure throws(ToolError) in try reports.report(failure, at: now) }
        return [
            scene(1, "the right server", original, by: policy, expecting: .trusted(.pinMatched)) { _ in "leaf key"
            },
            scene(2, "same key, renewed certificate", renewed, by: policy, expecting: .trusted(.pinMatched)) { _ in
                "nothing to update"
            },
            scene(3, "server moved to the backup key", rotated, by: policy, expecting: .trusted(.pinMatched)) {
                _ in
                "make a new backup"
            },
            scene(
                4, "interceptor with a CA you trust", intercepted, by: policy, isInterception: true,
                expecting: .rejected(.pinMismatch)
            ) { "\($0.requestBytes) request bytes arrived" },
            scene(
                nil, "  the same without pins", intercepted, by: try .withoutRules(), isInterception: true,
                expecting: .trusted(.hostNotPinned)
            ) { "\($0.requestBytes) bytes read by it" },
            scene(
                5, "pins past their date", original, by: try self.policy(expiry: Self.passedExpiry(at: now)),
                expecting: .trusted(.pinsExpired)
            ) { _ in "falls back to the system's trust" },
            scene(
                6, "a server without approval", stranger, by: try self.policy(unpinnedHosts: .askUser),
                host: try HostArgument.endpoint("nas.test"), expecting: .rejected(.unknownHost)
            ) {
                "fingerprint " + CertificatePin(certificate: $0.scene.identity.certificate.der).rows.0.prefix(8) + "..."
            },
            scene(7, "all its keys were replaced", replaced, by: policy, expecting: .rejected(.pinMismatch)) { _ in
                "the app knows none of them"
            },
            scene(
                nil, "  the same after a signed update", replaced, by: updates.adopted,
                expecting: .trusted(.pinMatched)
            ) { _ in "no release of the app" },
            scene(
                8, "the old key and update, stolen", original, by: updates.restarted, isInterception: true,
                expecting: .rejected(.pinMismatch)
            ) { _ in "after a restart: \(updates.refusal ?? "taken")" },
            reported,
        ]
    }

    /// Update 6 repeats the bundled pins, 7 brings the new key; after a restart, 6 is served again.
    private func rotation(
        at now: Date, under folder: String
    ) throws(ToolError) -> (adopted: PinningPolicy, restarted: PinningPolicy, refusal: String?) {
        let bundled = try policy()
        let next: PinningPolicy
        do {
            let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: replaced.key.spkiDER)))
            next = try PinningPolicy(hosts: [
                try PinnedHost(endpoint.host.description, pins: [pin], backup: .noneAccepted)
            ])
        } catch {
            throw .unusable("no-certificates", "the demonstration's update cannot be made: \(error)")
        }
        let app = try DemoUpdates(bundled, under: folder)
        let stolen = try app.sign(bundled, version: 6, at: now)
        _ = try app.adopt(stolen, at: now)
        _ = try app.adopt(try app.sign(next, version: 7, at: now), at: now)
        let adopted = app.policy
        try app.restart()
        let refusal = try app.adopt(stolen, at: now)
        return (adopted, app.policy, refusal)
    }

    /// Returns both authorities, so that this machine trusts the interceptor too.
    private func trusted() throws(ToolError) -> [Certificate] {
        do {
            return [
                try Certificate(der: authority.certificate.der), try Certificate(der: interceptor.certificate.der),
            ]
        } catch {
            throw .unusable("no-certificates", "the demonstration's certificates cannot be read: \(error)")
        }
    }
}

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
    static func write(_ setup: DemoSetup, under parent: String, at now: Date) throws(ToolError) -> DemoFolder {
        var template = Array("\(parent)/pintle-demo-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw OutputFile.failure(parent) }
        let folder = DemoFolder(path: String(cString: made))
        try folder.write(Array(setup.authority.certificate.pem.utf8), to: "authority.pem")
        try folder.write(Array(setup.interceptor.certificate.pem.utf8), to: "interceptor.pem")
        try folder.write(Array(setup.original.chainPEM.utf8), to: "server.pem")
        try folder.write(Array(setup.renewed.chainPEM.utf8), to: "renewed.pem")
        try folder.write(Array(setup.rotated.chainPEM.utf8), to: "rotated.pem")
        try folder.write(Array(setup.intercepted.chainPEM.utf8), to: "intercepted.pem")
        try folder.write(Array(setup.stranger.chainPEM.utf8), to: "unknown.pem")
        try folder.write(try setup.policy().json(), to: "policy.json")
        try folder.write(
            try setup.policy(expiry: DemoSetup.passedExpiry(at: now)).json(), to: "policy-expired.json")
        return folder
    }

    private func write(_ bytes: [UInt8], to name: String) throws(ToolError) {
        try OutputFile.create("\(path)/\(name)", mode: 0o600, bytes)
    }
}
