@_exported public import Pintle
