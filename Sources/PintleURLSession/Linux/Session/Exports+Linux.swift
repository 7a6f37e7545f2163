// On Linux `URLSession` is in FoundationNetworking, on Apple's systems in Foundation. With this export the same imports
// compile on both.
@_exported public import FoundationNetworking
