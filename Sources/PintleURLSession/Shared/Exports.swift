@_exported public import Pintle
@_exported public import PintleReports
@_exported public import PintleStorage
