public import Foundation

// Core Foundation types of Apple's headers, declared as the Swift types that they are bridged to on Apple's systems.
public typealias CFTypeRef = Any
public typealias CFArray = [Any]
public typealias CFData = Data
public typealias CFDate = Date
public typealias CFString = String
public typealias CFError = NSError
public typealias CFIndex = Int
public typealias OSStatus = Int32

/// An allocator. Callers only ever pass `nil` for it.
public final class CFAllocator {
    private init() {}
}

public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error?.code ?? 0 }
