/// A rule about the options that a command line may combine. The parser checks all rules of a command.
package struct OptionRule: Sendable {
    /// Returns the error of a command line that breaks the rule.
    let error: @Sendable (ParsedArguments) -> ToolError?

    /// One of the others has to be there: `--ask needs --store FILE to keep the answer`.
    ///
    /// - Parameter reason: the purpose of the others, after "to".
    package static func needs(
        _ option: OptionSpecification, _ others: OptionSpecification..., to reason: String
    ) -> OptionRule {
        OptionRule { arguments in
            guard arguments.has(option) else { return nil }
            return arguments.missing(others, of: "--\(option.name)", to: reason)
        }
    }

    /// `--listen goes with --serve or --proxy`
    package static func belongs(_ option: OptionSpecification, to others: OptionSpecification...) -> OptionRule {
        OptionRule { arguments in
            guard arguments.has(option), !others.contains(where: arguments.has) else { return nil }
            let names = others.map { "--\($0.name)" }.joined(separator: " or ")
            return .usage("--\(option.name) goes with \(names)", of: arguments.command)
        }
    }

    /// `--at does not go with --ask: the question is about now`
    package static func excludes(
        _ option: OptionSpecification, _ others: OptionSpecification..., because reason: String
    ) -> OptionRule {
        OptionRule { arguments in
            guard arguments.has(option), let other = others.first(where: arguments.has) else { return nil }
            return .usage("--\(other.name) does not go with --\(option.name): \(reason)", of: arguments.command)
        }
    }

    /// `--debug-anchors is for nsc only`
    ///
    /// - Parameters:
    ///   - value: the value of the other option with which this one goes.
    package static func only(
        _ option: OptionSpecification, for value: some RawRepresentable<String>, of other: OptionSpecification
    ) -> OptionRule {
        let word = value.rawValue
        return OptionRule { arguments in
            guard arguments.has(option), arguments.texts(of: other).contains(where: { $0 != word }) else { return nil }
            return .usage("--\(option.name) is for \(word) only", of: arguments.command)
        }
    }

    /// As ``needs(_:_:to:)``, of an action, which is the first argument.
    package static func needs(action: String, _ others: OptionSpecification..., to reason: String) -> OptionRule {
        OptionRule { arguments in
            guard arguments.positionals.first == action else { return nil }
            return arguments.missing(others, of: action, to: reason)
        }
    }

    /// `--note does not go with list: it is for approve`
    package static func only(action: String, takes options: OptionSpecification...) -> OptionRule {
        OptionRule { arguments in
            guard let other = arguments.positionals.first, other != action,
                let option = options.first(where: arguments.has)
            else { return nil }
            return .usage("--\(option.name) does not go with \(other): it is for \(action)", of: arguments.command)
        }
    }
}

extension ParsedArguments {
    fileprivate func missing(_ options: [OptionSpecification], of subject: String, to reason: String) -> ToolError? {
        guard !options.contains(where: has) else { return nil }
        let usage = options.map(\.usage).joined(separator: " or ")
        return .usage("\(subject) needs \(usage) to \(reason)", of: command, code: "missing-option")
    }
}
