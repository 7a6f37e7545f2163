internal import Glibc
internal import PintleTools

exit(CommandLineTool.main())
