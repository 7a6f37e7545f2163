internal import PintleProcess
internal import PintleSystem
internal import PintleTestKit
internal import Synchronization

extension SystemClaim {
    static let programs = [
        SystemClaim("The running program has its path, its environment and a limit of descriptors") {
            guard let file = RunningProgram.path, let path = getenv("PATH") else { return false }
            return access(file, X_OK) == 0 && RunningProgram.descriptorLimit ?? 0 > 3
                && RunningProgram.environment.contains("PATH=" + String(cString: path))
        },
        SystemClaim("A started program has its arguments, its environment and a process group of its own") {
            let script = "echo \"$1 $NAME\"; [ \"$(ps -o pgid= -p $$ | tr -d ' ')\" = $$ ] && echo leader"
            let run = try runProcess(["sh", "-c", script, "sh", "argument"], environment: ["NAME": "value"])
            return run.output == "argument value\nleader\n"
        },
        SystemClaim("A program that does not exist is not started") {
            do {
                _ = try runProcess(["no-such-program-of-this-test"])
                return false
            } catch is SystemCallError {
                return true
            }
        },
        SystemClaim("A thread runs its body before its join returns, and a detached one without a join") {
            let count = Mutex(0)
            guard let thread = SystemThread.start({ count.withLock { $0 += 1 } }) else { return false }
            thread.join()
            guard count.withLock(\.self) == 1, SystemThread.startDetached({ count.withLock { $0 += 1 } }) else {
                return false
            }
            for _ in 0..<5_000 where count.withLock(\.self) < 2 { usleep(1_000) }
            return count.withLock(\.self) == 2
        },
        SystemClaim("An action knows whether it ignores its signal") {
            // No other code here changes the action of this signal.
            signal(SIGUSR2, SIG_IGN)
            var action = sigaction()
            sigaction(SIGUSR2, nil, &action)
            signal(SIGUSR2, SIG_DFL)
            return action.isIgnored && !sigaction(calling: { _ in }).isIgnored
        },
    ]
}
