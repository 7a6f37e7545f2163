internal import PintleAttacks
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
            values["ca"] = try folder.write(root.pem, to: "authority.pem")
        } catch {
            throw .unusable("unwritable-file", "\(error)")
        }
        return values
    }

    /// Runs the client once, and returns the hosts and ports whose right server it accepted.
    func accepted(by client: Client, at address: Proxy.Address, timeout: Double) throws(ToolError) -> Set<String> {
        guard !hosts.isEmpty else { return [] }
        let runner = ClientRunner(
            client, hosts: try TrustMaterial.fill(hosts, in: folder), proxyAddress: address, keepsTranscripts: false)
        do throws(ClientRunError) {
            let runs = try runner.runControl(timeout: timeout, isCancelled: { Interrupts.areAsking })
            return Set(
                // A client that only finishes the handshake shows the same at an interceptor that it accepts.
                zip(hosts, runs).filter { ControlBehavior($1.observation)?.sendsRequest == true }
                    .map { Self.authority(of: $0.0) })
        } catch {
            throw ToolError(error, proxiedAt: address)
        }
    }

    /// Returns the host and port as ``SurveyedHost/authority`` has them.
    static func authority(of host: AttackedHost) -> String {
        Proxy.authority(host.name.lowercased(), host.clientPort ?? 443)
    }
}
