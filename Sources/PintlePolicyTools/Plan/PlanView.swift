internal import Pintle
internal import PintleSystem

/// A server as the table and the page show it. The cases of a server, one for each authority that its renewals can come
/// from, are one view if the same versions connect in all of them.
struct PlanView {
    /// The positions in ``RotationPlan/servers``; at least one.
    let servers: [Int]
    /// The first of the servers. The switches of the others differ only in the authority of the renewals.
    let server: Int
    /// The server's name, with the authorities if other cases have a view of their own.
    let name: String
    /// The authorities of the renewals: `root A or root B`; empty without a pattern.
    let authorities: String

    /// Returns the name of a certificate: that of the plan's list, or `renewal from root A or root B`.
    func name(of certificate: RotationPlan.Certificate) -> String {
        certificate.renewal == nil ? certificate.name : "renewal from \(authorities)"
    }
}

extension PlanReport {
    /// The servers as they are shown, in the order of the plan.
    var views: [PlanView] {
        var groups: [(servers: [Int], losses: PlanLosses)] = []
        for server in plan.servers.indices {
            let losses = simulation.losses(ofServer: server)
            let twin = groups.firstIndex { group in
                plan.servers[group.servers[0]].endpoint == plan.servers[server].endpoint
                    && group.losses == losses
            }
            if let twin {
                groups[twin].servers.append(server)
            } else {
                groups.append(([server], losses))
            }
        }
        return groups.map { group in
            let server = group.servers[0]
            let endpoint = plan.servers[server].endpoint
            let isAlone = groups.count { plan.servers[$0.servers[0]].endpoint == endpoint } == 1
            let authorities = group.servers.compactMap { server in
                plan.servers[server].switches.last.flatMap { plan.certificates[$0.certificate].renewal?.authority }
            }
            let names = authorities.joined(separator: " or ")
            return PlanView(
                servers: group.servers, server: server,
                name: plan.servers[server].name + (isAlone ? "" : ", \(names)"), authorities: names)
        }
    }
}
