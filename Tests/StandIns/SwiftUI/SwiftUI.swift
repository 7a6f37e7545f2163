// The parts of SwiftUI that Examples/App uses. They are only for the compiler: nothing is drawn, and nothing runs.
public import Combine
public import URLLoading

@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension View where Body == Never {
    public var body: Never { return fatalError("nothing is drawn") }
}

extension Never: View {
    public typealias Body = Never
}

extension Optional: View where Wrapped: View {
    public typealias Body = Never
}

/// A view that the system draws by itself.
public struct Drawn: View {
    public typealias Body = Never
}

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Drawn { Drawn() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither(first: some View) -> Drawn { Drawn() }
    public static func buildEither(second: some View) -> Drawn { Drawn() }
}

@MainActor public protocol Scene {}

@MainActor public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

public struct WindowGroup: Scene {
    public init(@ViewBuilder content: () -> some View) {}
}

// MARK: Views

public struct Text: View {
    public typealias Body = Never
    public init(_ text: some StringProtocol) {}
}

public struct Label: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, systemImage name: String) {}
}

public struct TextField: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, text: Binding<String>) {}
}

public struct ButtonRole: Sendable {
    public static let cancel = ButtonRole()
    public static let destructive = ButtonRole()
}

public struct Button: View {
    public typealias Body = Never
    public init(_ title: some StringProtocol, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {}
}

public enum HorizontalAlignment { case leading, center, trailing }

/// A view that holds views, such as `Form`.
public struct Container: View {
    public typealias Body = Never
    public init(@ViewBuilder content: () -> some View) {}
    public init(_ title: some StringProtocol, @ViewBuilder content: () -> some View) {}
    public init(alignment: HorizontalAlignment, @ViewBuilder content: () -> some View) {}
}

public typealias Form = Container
public typealias Section = Container
public typealias TabView = Container
public typealias VStack = Container

public struct Color: Sendable {
    public static let red = Color()
}

public struct Font: Sendable {
    public static let body = Font()
    public static let caption = Font()
    public func monospaced() -> Font { self }
}

public struct EnabledTextSelectability: Sendable {}

/// An image that the system loads.
public struct AsyncImage: View {
    public typealias Body = Never
    public init(url: URL?) {}
}

extension View {
    public func asyncImageURLSession(_ urlSession: URLSession) -> Drawn { Drawn() }
    public func font(_ font: Font?) -> Drawn { Drawn() }
    public func foregroundColor(_ color: Color?) -> Drawn { Drawn() }
    public func autocorrectionDisabled(_ disable: Bool = true) -> Drawn { Drawn() }
    public func textSelection(_ selectability: EnabledTextSelectability) -> Drawn { Drawn() }
    public func tabItem(@ViewBuilder _ label: () -> some View) -> Drawn { Drawn() }
    public func sheet<Item: Identifiable>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> some View
    ) -> Drawn { Drawn() }
}

extension EnabledTextSelectability {
    public static var enabled: EnabledTextSelectability { EnabledTextSelectability() }
}

// MARK: State

public struct Binding<Value> {}

@MainActor @dynamicMemberLookup public struct ObservedReference<Object: ObservableObject> {
    public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Object, Subject>) -> Binding<Subject> {
        Binding()
    }
}

@MainActor @propertyWrapper public struct StateObject<Object: ObservableObject> {
    public let wrappedValue: Object
    public var projectedValue: ObservedReference<Object> { ObservedReference() }
    public init(wrappedValue object: @autoclosure () -> Object) { wrappedValue = object() }
}

@MainActor @propertyWrapper public struct ObservedObject<Object: ObservableObject> {
    public var wrappedValue: Object
    public var projectedValue: ObservedReference<Object> { ObservedReference() }
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
}

@MainActor public struct DismissAction {
    public func callAsFunction() {}
}

@MainActor public struct EnvironmentValues {
    public var dismiss: DismissAction { DismissAction() }
}

@MainActor @propertyWrapper public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>
    public var wrappedValue: Value { EnvironmentValues()[keyPath: path] }
    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }
}

// MARK: UIKit views

@MainActor public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public let coordinator: Representable.Coordinator
}

@MainActor public protocol UIViewRepresentable: View where Body == Never {
    associatedtype Shown
    associatedtype Coordinator
    typealias Context = UIViewRepresentableContext<Self>
    func makeCoordinator() -> Coordinator
    func makeUIView(context: Context) -> Shown
    func updateUIView(_ view: Shown, context: Context)
}
