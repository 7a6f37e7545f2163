@_exported public import Pintle
@_exported public import PintleEvents
