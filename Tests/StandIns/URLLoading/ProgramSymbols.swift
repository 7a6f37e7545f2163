internal import Foundation
internal import Security

/// The functions of this program, from the symbol table of its own file. They tell which methods a class implements. A
/// default implementation of a protocol is no function of the class.
///
/// Only a debug build has the symbols of all functions.
enum ProgramSymbols {
    struct Method: Sendable {
        /// The name with its labels, such as `urlSession(_:didCreateTask:)`.
        let name: String
        /// The description with all types.
        let text: String
    }

    private static let known = Guarded<[ObjectIdentifier: [Method]]>([:])
    private static let table = SymbolTable(path: "/proc/self/exe")

    /// Returns the methods that a class implements itself, without those that it inherits.
    static func methods(of kind: AnyClass) -> [Method] {
        known.with { known in
            if let methods = known[ObjectIdentifier(kind)] { return methods }
            let methods = table.functions(of: kind).compactMap(method)
            known[ObjectIdentifier(kind)] = methods
            return methods
        }
    }

    /// - Parameter symbol: A name such as `$s6Module5ClassC6doThis4withySi_tF`.
    private static func method(_ symbol: String) -> Method? {
        let bytes = Array(symbol.utf8)
        guard let pointer = demangle(bytes, UInt(bytes.count), nil, nil, 0) else { return nil }
        defer { free(pointer) }
        // Such as `Module.(Class in _0A1B).doThis(with: Swift.Int) -> ()`. No type of a parameter has labels.
        let text = String(cString: pointer)
        let bracket = text.indices.dropFirst().first { text[$0] == "(" && isName(text[text.index(before: $0)]) }
        guard let bracket else { return nil }
        var labels = text[bracket...].split(separator: ": ").dropLast().map { lastName($0) + ":" }
        // If no parameter has a label, the text has only types. No delegate method has two such parameters.
        if labels.isEmpty, !text[bracket...].hasPrefix("()") { labels = ["_:"] }
        return Method(name: "\(lastName(text[..<bracket]))(\(labels.joined()))", text: text)
    }

    private static func isName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private static func lastName(_ text: Substring) -> String { String(text.suffix(while: isName)) }
}

extension Substring {
    fileprivate func suffix(while isPart: (Character) -> Bool) -> Substring {
        self[(lastIndex { !isPart($0) }.map { index(after: $0) } ?? startIndex)...]
    }
}

/// The function of Swift's runtime that turns a symbol into a readable name.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<UInt8>?, _ length: UInt, _ output: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// The Swift symbols of a 64-bit ELF file that this process runs.
private struct SymbolTable: Sendable {
    private let symbols: [(name: String, address: UInt)]
    /// The distance between an address in memory and the same one in the file.
    private let distance: UInt

    private static let advice = "the stand-ins need the symbols of a debug build to see which methods a class has"

    init(path: String) {
        guard let file = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped) else {
            preconditionFailure(Self.advice)
        }
        symbols = file.withUnsafeBytes { Self.swiftSymbols(in: $0) }
        let landmark = symbols.first { $0.name == "$s" + (_mangledTypeName(URLSession.self) ?? "") + "N" }
        guard let landmark else { preconditionFailure(Self.advice) }
        distance = Self.address(of: URLSession.self) &- landmark.address
    }

    private static func address(of kind: AnyClass) -> UInt { unsafeBitCast(kind, to: UInt.self) }

    /// Returns the symbols of the functions of a class.
    func functions(of kind: AnyClass) -> [String] {
        let address = Self.address(of: kind) &- distance
        // The name of a class in the table ends with N, and that of a function begins with its class and ends with F.
        let name = symbols.first { $0.address == address && $0.name.hasSuffix("CN") }?.name.dropLast()
        guard let name else { preconditionFailure("\(Self.advice): \(kind)") }
        return symbols.lazy.map(\.name).filter { $0.hasPrefix(name) && $0.hasSuffix("F") }
    }

    /// Reads the sections of the kind SHT_SYMTAB.
    private static func swiftSymbols(in file: UnsafeRawBufferPointer) -> [(name: String, address: UInt)] {
        func number<Number: FixedWidthInteger>(_ kind: Number.Type, at offset: Int) -> Int {
            Int(truncatingIfNeeded: file.loadUnaligned(fromByteOffset: offset, as: kind))
        }
        let (sections, size) = (number(UInt64.self, at: 0x28), number(UInt16.self, at: 0x3A))
        var symbols: [(name: String, address: UInt)] = []
        for index in 0..<number(UInt16.self, at: 0x3C) {
            let section = sections + index * size
            guard number(UInt32.self, at: section + 4) == 2 else { continue }
            let names = number(UInt64.self, at: sections + number(UInt32.self, at: section + 40) * size + 24)
            let start = number(UInt64.self, at: section + 24)
            for symbol in stride(from: start, to: start + number(UInt64.self, at: section + 32), by: 24) {
                let name = file[(names + number(UInt32.self, at: symbol))...]
                guard name.starts(with: "$s".utf8), let end = name.firstIndex(of: 0) else { continue }
                let address = UInt(bitPattern: number(UInt64.self, at: symbol + 8))
                symbols.append((String(decoding: name[..<end], as: UTF8.self), address))
            }
        }
        return symbols
    }
}
