internal import PintleAttacks
internal import PintleConsole
internal import PintleTestKit

/// The named hosts of a survey, at which the client first meets the right server, as in an ordinary rehearsal.
///
/// A client that accepts it trusts the authority of `{ca}`, so that its refusals in the survey are pins.
struct ControlRun {
    let hosts: [AttackedHost]
    let folder: TemporaryDirectory

    /// Returns the values of the client's placeholders in the survey.
    ///
    /// - Parameter root: the survey's authority.
    func values(trusting root: MintedCertificate) throws(ToolError) -> [String: String] {
        var values: [String: String] = [:]
        if let host = try TrustMaterial.fill(hosts, in: folder, trusting: root).first {
            values = host.values
            values["url"] = "https://\(host.authority)/"
            (values["host"], values["port"]) = (host.name, "\(host.clientPort ?? 443)")
        }
        do {
            // In some runs the named hosts are answered by their right servers.
            let authority = hosts.first?.catalogue.certificates.authority.certificate.pem ?? ""
            values["ca"] = try folder.write(root.pem + authority, to: "authority.pem")
        } catch {
            throw .unusable("unwritable-file", "\(error)")
        }
        return values
    }

    /// The named hosts and ports, by what the client did at their right server.
    struct Acceptance {
        /// Those that got a request.
        var accepted: Set<String> = []
        /// Those at which the client finished the handshake, and ended with exit code 0.
        var silent: Set<String> = []
        var refused: Set<String> = []
    }

    /// Runs the client once.
    func acceptance(of client: Client, at address: Proxy.Address, timeout: Double) throws(ToolError) -> Acceptance {
        guard !hosts.isEmpty else { return Acceptance() }
        let runner = ClientRunner(
            client, hosts: try TrustMaterial.fill(hosts, in: folder), proxyAddress: address, keepsTranscripts: false)
        do throws(ClientRunError) {
            let runs = try runner.runControl(timeout: timeout, isCancelled: { Interrupts.areAsking })
            var acceptance = Acceptance()
            for (host, run) in zip(hosts, runs) {
                let authority = Self.authority(of: host)
                switch ControlBehavior(run.observation)?.sendsRequest {
                case true?: acceptance.accepted.insert(authority)
                case false?: acceptance.silent.insert(authority)
                case nil: acceptance.refused.insert(authority)
                }
            }
            return acceptance
        } catch {
            throw ToolError(error, proxiedAt: address)
        }
    }

    /// Returns the host and port as ``SurveyedHost/authority`` has them.
    static func authority(of host: AttackedHost) -> String {
        Proxy.authority(host.name.lowercased(), host.clientPort ?? 443)
    }
}
