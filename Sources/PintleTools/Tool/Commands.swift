extension Command {
    /// Every command, in the order of the help.
    static let all: [Command] = [
        .pin, .check, .trust, .lint, .audit, .inspect, .plan, .export, .import, .evaluate, .keygen, .sign, .verify,
        .rehearse, .demo,
    ]
}
