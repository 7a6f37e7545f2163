internal import PintleConsole
internal import PintlePolicyFile

/// Replaces elements of an XML file. All other bytes stay. New lines have the ends and the indentation of the file.
struct XMLEdit {
    let bytes: [UInt8]
    private let newline: [UInt8]
    /// The indentation of one level.
    private var unit: [UInt8]

    /// - Parameters:
    ///   - parent: an element, whose first child shows the indentation.
    ///   - unit: the indentation of a file that shows none.
    init(_ bytes: [UInt8], parent: XMLElement, unit: String) {
        self.bytes = bytes
        let end = bytes.firstIndex { $0 == 0x0A || $0 == 0x0D }
        newline = end.map { bytes[$0...].starts(with: [0x0D, 0x0A]) ? [0x0D, 0x0A] : [bytes[$0]] } ?? [0x0A]
        self.unit = Array(unit.utf8)
        guard let child = parent.children.first else { return }
        let (outer, inner) = (indentation(at: parent.range.lowerBound), indentation(at: child.range.lowerBound))
        if inner.count > outer.count, inner.starts(with: outer) { self.unit = Array(inner.dropFirst(outer.count)) }
    }

    /// - Throws: an error for a file that is not XML in an encoding that extends ASCII.
    static func check(_ bytes: [UInt8]) throws(ToolError) {
        guard !bytes.contains(0) || bytes.starts(with: Array("bplist".utf8)) else {
            throw .unusable(
                "utf-16", "the file is not UTF-8, but UTF-16 or binary", at: nil,
                hint: "convert it: plutil -convert xml1 FILE, or iconv -f UTF-16 -t UTF-8")
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard first == UInt8(ascii: "<") || text.starts(with: Array("bplist".utf8)) else {
            throw .unusable(
                "not-xml", "the file is not XML", at: nil,
                hint: "a property list in the old style or in JSON is converted by: plutil -convert xml1 FILE")
        }
    }

    /// - Parameters:
    ///   - remedy: what the user does with such content.
    ///   - named: returns whether the facts of the format have an attribute, so that the report names its change.
    /// - Throws: an error for content of an element that one of an export would not have, without a word in the report.
    static func checkNothingIsLost(
        of element: XMLElement, remedy: String, named: (String) -> Bool
    ) throws(ToolError) {
        func lost(_ what: String, _ place: TextPlace) -> ToolError {
            .unusable(
                "lost-content", "\(what) would be lost, because pintle sync writes the element again", at: place,
                hint: remedy)
        }
        if let place = element.instruction { throw lost("a processing instruction", place) }
        var rest = [element]
        while let next = rest.popLast() {
            if next.name.contains(":") { throw lost("<\(next.name)>", next.place) }
            if let (name, _) = next.attributes.first(where: { !named($0.name) }) {
                throw lost("the attribute \(name) of <\(next.name)>", next.place)
            }
            guard next.children.isEmpty || next.hasNoText else { throw lost("the text of <\(next.name)>", next.place) }
            rest += next.children.reversed()
        }
    }

    /// Returns the lines of an exported element, which is indented by four blanks a level.
    static func lines(of element: XMLElement, in exported: [UInt8]) -> [(level: Int, text: [UInt8])] {
        let base = indentation(at: element.range.lowerBound, in: exported).count / 4
        return exported[element.range].split(separator: 0x0A).enumerated().map { index, line in
            let blanks = index == 0 ? 0 : line.prefix { $0 == 0x20 }.count
            return (index == 0 ? 0 : blanks / 4 - base, Array(line.dropFirst(blanks)))
        }
    }

    /// Returns the file with elements replaced by others, which begin where the first of them did.
    func replacing(_ old: [XMLElement], by new: [[(level: Int, text: [UInt8])]]) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        for (index, element) in old.enumerated() {
            let isKept = index == 0 && !new.isEmpty
            let start = isKept ? element.range.lowerBound : blanks(before: element.range.lowerBound, from: position)
            result += bytes[position..<start]
            if isKept { result += text(new, indentation(at: start)) }
            position = element.range.upperBound
        }
        return result + bytes[position...]
    }

    /// Returns the file with elements behind the last child of another one.
    func inserting(_ elements: [[(level: Int, text: [UInt8])]], into parent: XMLElement) -> [UInt8] {
        let outer = indentation(at: parent.range.lowerBound)
        let inner = parent.children.first.map { indentation(at: $0.range.lowerBound) } ?? outer + unit
        let new = newline + inner + text(elements, inner)
        if parent.content.upperBound == parent.range.upperBound {
            // `<dict/>`
            var tag = bytes[parent.range].dropLast(2)
            while let last = tag.last, Self.isBlank(last) { tag = tag.dropLast() }
            let open = Array(tag) + [UInt8(ascii: ">")]
            let close = newline + outer + Array("</\(parent.name)>".utf8)
            return Array(bytes[..<parent.range.lowerBound]) + open + new + close + bytes[parent.range.upperBound...]
        }
        // Behind the comments that stand there, and before the blanks of the end tag.
        let place = blanks(before: parent.content.upperBound, from: parent.content.lowerBound)
        let isOnLineOfItsOwn = bytes[place..<parent.content.upperBound].contains { $0 == 0x0A || $0 == 0x0D }
        return Array(bytes[..<place]) + new + (isOnLineOfItsOwn ? [] : newline + outer) + bytes[place...]
    }

    /// Returns where the blanks before an offset begin.
    private func blanks(before offset: Int, from start: Int) -> Int {
        var place = offset
        while place > start, Self.isBlank(bytes[place - 1]) { place -= 1 }
        return place
    }

    private func text(_ elements: [[(level: Int, text: [UInt8])]], _ base: [UInt8]) -> [UInt8] {
        let lines = elements.joined().map { line in
            Array(repeatElement(unit, count: max(0, line.level)).joined()) + line.text
        }
        return Array(lines.joined(separator: newline + base))
    }

    private func indentation(at offset: Int) -> [UInt8] { Self.indentation(at: offset, in: bytes) }

    /// Returns the blanks at the beginning of the line.
    private static func indentation(at offset: Int, in bytes: [UInt8]) -> [UInt8] {
        let start = bytes[..<offset].lastIndex { $0 == 0x0A || $0 == 0x0D }.map { $0 + 1 } ?? 0
        return Array(bytes[start..<offset].prefix { $0 == 0x20 || $0 == 0x09 })
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
