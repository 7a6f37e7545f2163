internal import PintleConsole
internal import PintleSystem
internal import PintleTools

let code = CommandLineTool.main()
// What runs at a normal exit frees memory that a thread left behind may still use. Output is written without buffers.
if CommandLineTool.leavesThreads { _exit(code) }
exit(code)
