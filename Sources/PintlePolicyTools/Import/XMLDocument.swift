internal import CExpat
internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile

/// An element of an XML document, as far as configuration files need it.
struct XMLElement: Sendable {
    let name: String
    let attributes: [(name: String, value: String)]
    let place: TextPlace
    /// The bytes of the element in the document, with its tags.
    fileprivate(set) var range: Range<Int>
    /// The bytes between its tags; empty, at the end of ``range``, for a tag such as `<dict/>`.
    fileprivate(set) var content: Range<Int>
    /// The number of comments inside.
    fileprivate(set) var comments = 0
    /// The place of the first processing instruction inside.
    fileprivate(set) var instruction: TextPlace?
    fileprivate(set) var children: [XMLElement] = []
    /// The text between the children, joined, with references resolved and without comments.
    fileprivate(set) var text = ""

    func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
}

/// A reader of XML with expat, which does not fetch external entities. Entities that the document defines are refused:
/// no configuration needs them, and they can grow without bound.
enum XMLDocument {
    /// - Returns: the root element.
    static func root(_ bytes: [UInt8]) throws(ToolError) -> XMLElement {
        guard bytes.count <= ForeignLimits.fileSize else {
            throw .unusable("too-large", "larger than \(ForeignLimits.fileSize >> 20) MiB", at: nil)
        }
        guard let parser = XML_ParserCreate(nil) else {
            throw .unusable("no-memory", "the XML parser cannot be made", at: nil)
        }
        defer { XML_ParserFree(parser) }
        let builder = XMLBuilder(parser)
        XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        XML_SetElementHandler(parser, startElement, endElement)
        XML_SetCharacterDataHandler(parser, characters)
        XML_SetEntityDeclHandler(parser, entityDeclaration)
        XML_SetSkippedEntityHandler(parser, skippedEntity)
        XML_SetCommentHandler(parser, comment)
        XML_SetProcessingInstructionHandler(parser, instruction)
        let status = withExtendedLifetime(builder) {
            bytes.withUnsafeBytes { buffer in
                XML_Parse(parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), 1)
            }
        }
        if let error = builder.error { throw error }
        guard status == XML_STATUS_OK else {
            let code = XML_GetErrorCode(parser)
            let message = XML_ErrorString(code).map { String(cString: $0) } ?? "not XML"
            throw .unusable("malformed-xml", message, at: builder.place)
        }
        guard let root = builder.root else { throw .unusable("malformed-xml", "no element found", at: nil) }
        return root
    }

    private static func builder(_ data: UnsafeMutableRawPointer?) -> XMLBuilder? {
        data.map { Unmanaged<XMLBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let startElement: XML_StartElementHandler = { data, name, attributes in
        guard let name else { return }
        var pairs: [(name: String, value: String)] = []
        var rest = attributes
        while let pair = rest, let key = pair[0], let value = pair[1] {
            pairs.append((String(cString: key), String(cString: value)))
            rest = pair.advanced(by: 2)
        }
        builder(data)?.start(String(cString: name), pairs)
    }

    private static let endElement: XML_EndElementHandler = { data, _ in builder(data)?.end() }

    private static let characters: XML_CharacterDataHandler = { data, text, count in
        guard let text else { return }
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(count))
        builder(data)?.append(String(decoding: bytes, as: UTF8.self))
    }

    private static let entityDeclaration: XML_EntityDeclHandler = { data, _, _, _, _, _, _, _, _ in
        builder(data)?.fail("entity", "the document declares an entity of its own", hint: "write its text instead")
    }

    // An entity that only the external DTD may declare, which is not fetched: its text would be lost.
    private static let skippedEntity: XML_SkippedEntityHandler = { data, _, _ in
        builder(data)?.fail("entity", "the document uses an entity that it does not declare", hint: "write its text")
    }

    private static let comment: XML_CommentHandler = { data, _ in builder(data)?.comment() }

    private static let instruction: XML_ProcessingInstructionHandler = { data, _, _ in builder(data)?.instruction() }
}

/// A builder of the tree while expat reads. Lives as long as one call, on its thread.
private final class XMLBuilder {
    private let parser: XML_Parser
    private var open: [XMLElement] = []
    private var count = 0
    private(set) var root: XMLElement?
    private(set) var error: ToolError?

    init(_ parser: XML_Parser) {
        self.parser = parser
    }

    var place: TextPlace {
        TextPlace(
            line: Int(XML_GetCurrentLineNumber(parser)), column: Int(XML_GetCurrentColumnNumber(parser)) + 1)
    }

    func start(_ name: String, _ attributes: [(name: String, value: String)]) {
        count += 1 + attributes.count
        guard error == nil else { return }
        guard open.count < ForeignLimits.depth, count <= ForeignLimits.items else {
            return fail("limits-exceeded", "more elements than any configuration has")
        }
        let tag = token
        open.append(
            XMLElement(
                name: name, attributes: attributes, place: place, range: tag, content: tag.upperBound..<tag.upperBound))
    }

    func end() {
        guard error == nil, var element = open.popLast() else { return }
        // For `<dict/>` this is the empty range behind it.
        let tag = token
        element.range = element.range.lowerBound..<tag.upperBound
        element.content = element.content.lowerBound..<tag.lowerBound
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
            open[open.count - 1].comments += element.comments
            if open[open.count - 1].instruction == nil { open[open.count - 1].instruction = element.instruction }
        }
    }

    func comment() {
        if error == nil, !open.isEmpty { open[open.count - 1].comments += 1 }
    }

    func instruction() {
        if error == nil, !open.isEmpty, open[open.count - 1].instruction == nil {
            open[open.count - 1].instruction = place
        }
    }

    /// The bytes of the tag that expat is at.
    private var token: Range<Int> {
        let start = max(0, Int(XML_GetCurrentByteIndex(parser)))
        return start..<(start + max(0, Int(XML_GetCurrentByteCount(parser))))
    }

    func append(_ text: String) {
        guard error == nil, !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    func fail(_ code: String, _ message: String, hint: String? = nil) {
        guard error == nil else { return }
        error = .unusable(code, message, at: place, hint: hint)
        XML_StopParser(parser, 0)
    }
}
