public import Foundation

// What Apple's headers give Swift as Core Foundation types, as the Swift types that they are bridged to there.
public typealias CFTypeRef = Any
public typealias CFArray = [Any]
public typealias CFData = Data
public typealias CFDate = Date
public typealias CFString = String
public typealias CFError = NSError
public typealias CFIndex = Int
public typealias OSStatus = Int32

/// Only its absence is ever passed on.
public final class CFAllocator {
    private init() {}
}

public func CFErrorGetCode(_ error: CFError?) -> CFIndex { error?.code ?? 0 }
