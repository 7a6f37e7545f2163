@_exported public import PintleApple
