internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem

#if PINTLE_APPLE
exit(CommandLineTool.main(Command.withoutServers, CryptoKitLibraries()))
#else
internal import PintleTools

let code = CommandLineTool.main()
// What runs at a normal exit frees memory that a thread left behind may still use. Output is written without buffers.
if CommandLineTool.leavesThreads { _exit(code) }
exit(code)
#endif
