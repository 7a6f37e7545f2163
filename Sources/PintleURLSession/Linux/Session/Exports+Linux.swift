// `URLSession` is in this module on Linux and in Foundation on Apple's systems. So one program is right on both.
@_exported public import FoundationNetworking
