extension TrustRejection {
    /// The description with the way out, for the error of a task: whoever reads it may read nothing else.
    package var advice: String {
        switch self {
        case .pinMismatch(let mismatch):
            if let rule = mismatch.rule {
                "\(self); if this server is the right one, add one of the served pins to the rule for "
                    + "\(rule.pattern); if it is not, somebody is listening"
            } else {
                "\(self); if not, somebody is listening"
            }
        case .pinsExpired: "\(self); update the app, or its policy"
        case .hostNotAllowed(let endpoint): "\(self); add a rule for \(endpoint.host) to the policy"
        case .unknownHost: "\(self); ask the user, or add a rule for the host to the policy"
        case .invalidPath: "\(self); pins are not looked at before the path is valid"
        }
    }
}
