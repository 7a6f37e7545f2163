// A file that imports this module sees the system's C library and Foundation's basic types, so only this module asks
// which system it is.
#if canImport(Darwin)
@_exported public import Darwin
#else
@_exported public import Glibc
#endif
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
