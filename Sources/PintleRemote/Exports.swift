@_exported public import PintleReports
@_exported public import PintleUpdates
