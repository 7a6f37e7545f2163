@_exported public import PintleReports
@_exported public import PintleStorage
@_exported public import PintleUpdates
