@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools

enum ForeignEntry {
    static func check(_ input: [UInt8], _ format: ForeignFormat) {
        do throws(ToolError) {
            let draft = try ImportCommand.read(input, as: format, files: .none)
            let policy = try draft.policy()
            let printed = policy.json()
            guard let again = try? PinningPolicy(json: printed), again.json() == printed else {
                fatalError("\(format): not a policy")
            }
            guard policy.hosts.count == draft.rules.count else { fatalError("\(format): rules are lost") }
        } catch {
            // In XML, CR also ends a line (XML 1.0, section 2.11).
            let lines = input.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
            guard !error.message.isEmpty, 1...lines + 1 ~= error.line ?? 1, error.column ?? 1 >= 1 else {
                fatalError("\(format): \(error)")
            }
        }
    }
}
