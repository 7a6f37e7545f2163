@_exported public import Pintle
@_exported public import PintleEvents

#if PINTLE_APPLE
@_exported public import PintleApple
#else
@_exported public import PintleOpenSSL
// On Linux `URLSession` is in FoundationNetworking, on Apple's systems in Foundation. With this export the same imports
// compile on both.
@_exported public import FoundationNetworking
#endif
