import Foundation

/// Who is told of something: the first of two that has a method for it, as the system does it with the delegate of a
/// task and that of its session.
struct Receivers<Delegate> {
    let first: Delegate?
    let second: Delegate?

    init(_ delegates: (first: Delegate?, second: Delegate?)) {
        (first, second) = delegates
    }

    func flatMap<Method>(_ method: (Delegate) -> Method?) -> Method? {
        first.flatMap(method) ?? second.flatMap(method)
    }
}

/// A method of a delegate, which it may not have: such methods are optional with Apple's protocols.
func offered<Method>(_ method: Method?) -> Method? { method }
