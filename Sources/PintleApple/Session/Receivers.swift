import Foundation

/// Two delegates, of which the first that implements a method gets the call. The system does the same with the
/// delegates of a task and of its session.
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

/// Returns a method that a delegate may not have. Apple's protocols declare such methods as optional.
func offered<Method>(_ method: Method?) -> Method? { method }
