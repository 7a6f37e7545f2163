// Rewrites Swift files so that they hold every mutant at once, behind calls of Scripts/mutants.switch.swift.
// Scripts/mutants.py compiles it with the parser of the toolchain, and explains the operators.
// usage: mutants FIRST DROPPED SOURCE TARGET...   numbers mutants from FIRST; DROPPED is a list of numbers with commas
// Prints a JSON object for each mutant, dropped or not. A rewritten file has the lines of its source.
import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Reads a file and collects its mutants, and the texts to insert for them.
final class Mutator: SyntaxVisitor {
    struct Mutant: Encodable {
        let id, site, line: Int
        let file, place, change, text: String
    }

    private(set) var mutants: [Mutant] = []
    private var next: Int
    private let file: String
    private let dropped: Set<Int>
    private let source: [UInt8]
    private let lines: SourceLocationConverter
    /// The conditions that have their mutants already.
    private var judged: Set<SyntaxIdentifier> = []
    private var returned: Set<SyntaxIdentifier> = []
    /// Texts to insert, by offset: before what starts there, outermost first; after what ends there, innermost first.
    private var openings: [Int: [String]] = [:]
    private var closings: [Int: [String]] = [:]
    private var replaced: [Range<Int>: String] = [:]

    init(_ file: String, _ text: String, first: Int, dropped: Set<Int>) throws {
        (self.file, self.dropped, next, source) = (file, dropped, first, Array(text.utf8))
        let tree = Parser.parse(source: text)
        lines = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(try OperatorTable.standardOperators.foldAll(tree))
    }

    // MARK: Text

    private func range(_ node: some SyntaxProtocol) -> Range<Int> {
        node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    }

    private func text(_ node: some SyntaxProtocol) -> String {
        String(decoding: source[range(node)], as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
    }

    /// Adds a site with a mutant for each change; `edit` gets the number of the first.
    private func add(_ node: some SyntaxProtocol, _ changes: [String], edit: (Int) -> Void) {
        let site = next
        // A literal says little without what is around it.
        let isLiteral = node.is(IntegerLiteralExprSyntax.self) || node.is(BooleanLiteralExprSyntax.self)
        let context = isLiteral ? node.parent.map { " in \(text($0))" } ?? "" : ""
        for (step, change) in changes.enumerated() {
            mutants.append(
                Mutant(
                    id: site + step, site: site, line: node.startLocation(converter: lines).line, file: file,
                    place: place(of: Syntax(node)), change: change, text: text(node) + context))
        }
        next += changes.count
        if !dropped.contains(site) { edit(site) }
    }

    /// Adds a site whose mutants need only texts before and after the node.
    private func wrap(
        _ node: some SyntaxProtocol, _ changes: [String], _ before: (Int) -> String, _ after: String = ")"
    ) {
        add(node, changes) { site in
            openings[range(node).lowerBound, default: []].append(before(site))
            closings[range(node).upperBound, default: []].insert(after, at: 0)
        }
    }

    /// Returns the names of the declarations around a node, from the outermost.
    private func place(of node: Syntax) -> String {
        var names: [String] = []
        var current: Syntax? = node
        while let node = current {
            if let item = node.as(FunctionDeclSyntax.self) { names.append(item.name.text) }
            if node.is(InitializerDeclSyntax.self) { names.append("init") }
            if node.is(SubscriptDeclSyntax.self) { names.append("subscript") }
            if let item = node.as(VariableDeclSyntax.self), item.parent?.is(CodeBlockItemSyntax.self) != true,
                let first = item.bindings.first
            {
                names.append(first.pattern.trimmedDescription)
            }
            if let item = node.as(ExtensionDeclSyntax.self) { names.append(item.extendedType.trimmedDescription) }
            if let item = node.asProtocol((any NamedDeclSyntax).self), !node.is(FunctionDeclSyntax.self) {
                names.append(item.name.text)
            }
            current = node.parent
        }
        return names.reversed().joined(separator: ".")
    }

    func rewritten() -> String {
        var result: [UInt8] = []
        var offset = 0
        while offset <= source.count {
            for text in closings[offset] ?? [] { result += text.utf8 }
            for text in openings[offset] ?? [] { result += text.utf8 }
            guard offset < source.count else { break }
            if let (range, text) = replaced.first(where: { $0.key.lowerBound == offset }) {
                result += text.utf8
                offset = range.upperBound
            } else {
                result.append(source[offset])
                offset += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    // MARK: Conditions

    /// Returns the expression inside of parentheses and `try`.
    private func bare(_ node: ExprSyntax) -> ExprSyntax {
        if let tuple = node.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first,
            only.label == nil
        {
            return bare(only.expression)
        }
        return node
    }

    private func op(_ node: some SyntaxProtocol) -> String? {
        guard let infix = node.as(InfixOperatorExprSyntax.self) else { return nil }
        return infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text
    }

    /// Adds the mutants of a condition, unless it has them already.
    private func judge(_ node: ExprSyntax) {
        let inner = bare(node)
        guard !judged.contains(inner.id) else { return }
        judged.insert(inner.id)
        guard !inner.is(BooleanLiteralExprSyntax.self) else { return }
        wrap(node, ["negated", "true", "false"]) { "mutant_condition(\($0), " }
    }

    /// Adds the mutants of the operands of `&&` and `||`.
    private func judgeOperands(of node: InfixOperatorExprSyntax, _ name: String) {
        for operand in [node.leftOperand, node.rightOperand] {
            let inner = bare(operand)
            judged.insert(inner.id)
            if op(inner) == name { continue }
            let neutral = name == "&&" ? "true" : "false"
            wrap(operand, [neutral]) { "mutant_\(neutral)(\($0), " }
        }
    }

    override func visit(_ node: ConditionElementListSyntax) -> SyntaxVisitorContinueKind {
        var hasExpression = false
        for element in node {
            if case .expression(let condition) = element.condition {
                hasExpression = true
                judge(condition)
            }
        }
        if !hasExpression, let first = node.first {
            add(node, ["false"]) { site in
                openings[range(first).lowerBound, default: []].append("!mutant(\(site)), ")
            }
        }
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        judge(node.condition)
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        judge(node.condition)
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { judge(ExprSyntax(node)) }
        return .visitChildren
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let name = op(node) else { return .visitChildren }
        switch name {
        case "&&", "||":
            judge(ExprSyntax(node))
            judgeOperands(of: node, name)
        case "<", "<=", ">", ">=":
            judge(ExprSyntax(node))
            // Tuples can be compared, and are not Comparable.
            guard bare(node.leftOperand).as(TupleExprSyntax.self) == nil else { break }
            let swapped = name.count == 1 ? name + "=" : String(name.prefix(1))
            let kind = ["<": "less", "<=": "atMost", ">": "greater", ">=": "atLeast"][name] ?? ""
            addCall("mutant_\(kind)", node, [swapped])
        case "==", "!=":
            judge(ExprSyntax(node))
            if name == "==", [node.leftOperand, node.rightOperand].contains(where: isNumber) {
                addCall("mutant_equal", node, ["<=", ">="])
            }
        case "??":
            wrap(node.leftOperand, ["nil"]) { "mutant_nil(\($0), " }
        case "+":
            if !isText(node), ![node.leftOperand, node.rightOperand].contains(where: isNumber) {
                addCall("mutant_sum", node, ["without the second", "without the first"])
            }
        default: break
        }
        return .visitChildren
    }

    /// Replaces an infix operator by a call.
    private func addCall(_ function: String, _ node: InfixOperatorExprSyntax, _ changes: [String]) {
        add(node, changes) { site in
            openings[range(node).lowerBound, default: []].append("\(function)(\(site), ")
            replaced[range(node.operator)] = ","
            closings[range(node).upperBound, default: []].insert(")", at: 0)
        }
    }

    private func isNumber(_ node: ExprSyntax) -> Bool { node.is(IntegerLiteralExprSyntax.self) }

    private func isText(_ node: some SyntaxProtocol) -> Bool { text(node).contains("\"") }

    // MARK: Values

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // After `while true` the compiler asks for no value.
        if node.parent?.is(ConditionElementSyntax.self) != true { wrap(node, ["negated"]) { "mutant_flip(\($0), " } }
        return .skipChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        wrap(node, node.literal.text == "0" ? ["+ 1"] : ["+ 1", "- 1"]) { "mutant_number(\($0), " }
        return .skipChildren
    }

    /// Calls that return a value of the receiver's type, usually a part of it.
    private static let parts: Set<String> = [
        "filter", "intersection", "subtracting", "union", "lowercased", "rounded", "dropFirst", "dropLast", "prefix",
        "sorted",
    ]

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if let member = node.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base,
            Self.parts.contains(member.declName.baseName.text), !isText(base), !text(base).contains("//")
        {
            wrap(node, ["without the call of \(member.declName.baseName.text)"]) {
                "(mutant(\($0)) ? \(text(base)) : "
            }
        }
        return .visitChildren
    }

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let value = node.expression { judgeResult(value, of: Syntax(node)) }
        return .visitChildren
    }

    /// Adds the mutants of a value that a function returns.
    private func judgeResult(_ value: ExprSyntax, of node: Syntax) {
        // An `if` may hold the value of a function, and its branches hold theirs.
        for value in results(of: value) where returned.insert(value.id).inserted {
            switch resultType(around: node) {
            case "Bool"?: judge(value)
            case let type? where type.hasSuffix("?"):
                if !value.is(NilLiteralExprSyntax.self) { wrap(value, ["nil"]) { "mutant_nil(\($0), " } }
            case let type? where type.hasPrefix("["):
                if value.as(ArrayExprSyntax.self)?.elements.isEmpty != true {
                    wrap(value, ["[]"]) { "mutant_empty(\($0), " }
                }
            default: break
            }
        }
    }

    /// Returns the values of the branches, if a value is an `if` or a `switch`.
    private func results(of value: ExprSyntax) -> [ExprSyntax] {
        var bodies: [CodeBlockItemListSyntax] = []
        if let node = value.as(SwitchExprSyntax.self) {
            bodies = node.cases.compactMap { $0.as(SwitchCaseSyntax.self)?.statements }
        } else if let node = value.as(IfExprSyntax.self) {
            bodies = [node.body.statements]
            switch node.elseBody {
            case .codeBlock(let block)?: bodies.append(block.statements)
            case .ifExpr(let other)?: return values(bodies) + results(of: ExprSyntax(other))
            default: break
            }
        } else {
            return [value]
        }
        return values(bodies)
    }

    private func values(_ bodies: [CodeBlockItemListSyntax]) -> [ExprSyntax] {
        bodies.flatMap { body in
            body.count == 1 ? body.first.flatMap(expression).map(results) ?? [] : []
        }
    }

    private func expression(_ item: CodeBlockItemSyntax) -> ExprSyntax? {
        switch item.item {
        case .expr(let value): value
        case .stmt(let statement): statement.as(ExpressionStmtSyntax.self)?.expression
        default: nil
        }
    }

    /// Returns the type that the innermost function, accessor or variable around a node returns; `nil` in closures.
    private func resultType(around node: Syntax) -> String? {
        var current = node.parent
        while let node = current {
            if node.is(ClosureExprSyntax.self) || node.is(InitializerDeclSyntax.self) { return nil }
            if let function = node.as(FunctionDeclSyntax.self) {
                return function.signature.returnClause.map { text($0.type) }
            }
            if let item = node.as(SubscriptDeclSyntax.self) { return text(item.returnClause.type) }
            if let binding = node.as(PatternBindingSyntax.self), binding.accessorBlock != nil {
                return binding.typeAnnotation.map { text($0.type) }
            }
            current = node.parent
        }
        return nil
    }

    // MARK: Statements

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard let value = expression(node) else { return .visitChildren }
        if isResult(node) {
            if let list = node.parent, list.parent?.is(SwitchCaseSyntax.self) != true {
                judgeResult(value, of: Syntax(node))
            }
        } else if isRemovable(value, in: node) {
            wrap(node, ["removed"], { "if !mutant(\($0)) { " }, " }")
        }
        return .visitChildren
    }

    private func isRemovable(_ value: ExprSyntax, in node: CodeBlockItemSyntax) -> Bool {
        if let tried = value.as(TryExprSyntax.self) { return isRemovable(tried.expression, in: node) }
        if let infix = value.as(InfixOperatorExprSyntax.self) {
            let assigns =
                infix.operator.is(AssignmentExprSyntax.self)
                || ["+=", "-=", "|=", "&=", "*="].contains(op(infix) ?? "")
            // An initializer has to give each property a value, and a constant needs its only one.
            return assigns && !isInside(node, InitializerDeclSyntax.self)
                && !isConstant(text(infix.leftOperand), at: node)
        }
        guard let call = value.as(FunctionCallExprSyntax.self) else { return false }
        return call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text != "init"
    }

    /// Returns whether a name is that of a constant that is declared without a value.
    private func isConstant(_ name: String, at node: CodeBlockItemSyntax) -> Bool {
        sequence(first: Syntax(node), next: \.parent).lazy.compactMap { $0.as(CodeBlockItemListSyntax.self) }
            .joined().compactMap { $0.item.as(VariableDeclSyntax.self) }.contains { declaration in
                declaration.bindingSpecifier.text == "let"
                    && declaration.bindings.contains { $0.initializer == nil && text($0.pattern) == name }
            }
    }

    private func isInside(_ node: some SyntaxProtocol, _ kind: (some SyntaxProtocol).Type) -> Bool {
        sequence(first: Syntax(node), next: \.parent).contains { $0.is(kind) }
    }

    /// Returns whether an expression that stands by itself is the value of a function, a closure or a branch.
    private func isResult(_ node: CodeBlockItemSyntax) -> Bool {
        if let infix = expression(node)?.as(InfixOperatorExprSyntax.self), infix.operator.is(AssignmentExprSyntax.self)
        {
            return false
        }
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let owner = list.parent else {
            return false
        }
        if owner.is(ClosureExprSyntax.self) || owner.is(AccessorBlockSyntax.self) { return true }
        if owner.is(SwitchCaseSyntax.self) {
            guard let whole = owner.parent?.parent else { return true }
            return isResult(branch: whole)
        }
        guard owner.is(CodeBlockSyntax.self), let holder = owner.parent else { return true }
        if let function = holder.as(FunctionDeclSyntax.self) {
            return function.signature.returnClause.map { text($0.type) != "Void" } ?? false
        }
        if holder.is(AccessorDeclSyntax.self) { return true }
        if holder.is(IfExprSyntax.self) { return isResult(branch: holder) }
        return false
    }

    private func isResult(branch node: Syntax) -> Bool {
        if let outer = node.parent?.as(IfExprSyntax.self) { return isResult(branch: Syntax(outer)) }
        guard let statement = node.parent?.as(ExpressionStmtSyntax.self) else { return true }
        guard let item = statement.parent?.as(CodeBlockItemSyntax.self) else { return true }
        return isResult(item)
    }

    // MARK: Cases

    override func visit(_ node: SwitchExprSyntax) -> SyntaxVisitorContinueKind {
        let labels = node.cases.compactMap { $0.as(SwitchCaseSyntax.self)?.label }
        let hasDefault = labels.contains { label in
            switch label {
            case .default: true
            case .case(let label): label.caseItems.contains { text($0.pattern) == "_" }
            default: false
            }
        }
        guard hasDefault else { return .visitChildren }
        for case .case(let label) in labels {
            for item in label.caseItems where item.whereClause == nil && text(item.pattern) != "_" {
                add(item.pattern, ["never"]) { site in
                    closings[range(item.pattern).upperBound, default: []].append(" where !mutant(\(site))")
                }
            }
        }
        return .visitChildren
    }

    // MARK: What has no mutants

    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: FunctionParameterClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    /// Only the branch that Linux's debug build compiles.
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        for clause in node.clauses {
            let condition = clause.condition.map(text) ?? ""
            let isActive = condition.isEmpty || condition == "DEBUG" || condition == "canImport(FoundationEssentials)"
            if isActive {
                if let elements = clause.elements { walk(elements) }
                break
            }
        }
        return .skipChildren
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, arguments.count % 2 == 1, var first = Int(arguments[1]) else {
    fatalError("usage: mutants FIRST DROPPED SOURCE TARGET...")
}
let dropped = Set(arguments[2].split(separator: ",").compactMap { Int($0) })
let encoder = JSONEncoder()
for index in stride(from: 3, to: arguments.count, by: 2) {
    let text = try String(contentsOfFile: arguments[index], encoding: .utf8)
    let mutator = try Mutator(arguments[index], text, first: first, dropped: dropped)
    first += mutator.mutants.count
    for mutant in mutator.mutants { print(String(decoding: try encoder.encode(mutant), as: UTF8.self)) }
    let rewritten = mutator.rewritten()
    if (try? String(contentsOfFile: arguments[index + 1], encoding: .utf8)) != rewritten {
        try rewritten.write(toFile: arguments[index + 1], atomically: true, encoding: .utf8)
    }
}
