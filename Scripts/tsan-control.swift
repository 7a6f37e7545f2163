// The control for the thread sanitizer: three threads count under a contended Mutex, which it must not report. With an
// argument they also count without the lock, which it must report. Only Scripts/sanitize.sh compiles this file.
import Glibc
import Synchronization

let guarded = Mutex(0)
nonisolated(unsafe) var naked = 0  // The race that the sanitizer must report.
let races = CommandLine.arguments.count > 1

func start() -> pthread_t {
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { _ in
            for _ in 0..<300 {
                guarded.withLock { count in
                    count += 1
                    usleep(100)
                }
                if races { naked += 1 }
            }
            return nil
        }, nil)
    return thread
}

let threads = [start(), start(), start()]
for thread in threads { pthread_join(thread, nil) }
print(guarded.withLock { $0 })
