package import PintleConsole

extension Command {
    /// The commands that need no TLS, in the order of the help.
    package static let withoutServers: [Command] = [
        .pin, .trust, .lint, .inspect, .plan, .export, .import, .sync, .keygen, .sign, .verify,
    ]
}
