"""What the modules of MicroPython 1.26 on the ESP32 have, of those whose unix namesakes have more."""

OS = (
    "VfsFat", "VfsLfs2", "chdir", "dupterm", "getcwd", "ilistdir", "listdir", "mkdir", "mount", "remove", "rename",
    "rmdir", "sep", "stat", "statvfs", "sync", "umount", "uname", "unlink", "urandom",
)  # fmt: skip
SYS = (
    "argv", "atexit", "byteorder", "exit", "implementation", "maxsize", "modules", "path", "platform", "print_exception",
    "ps1", "ps2", "stderr", "stdin", "stdout", "tracebacklimit", "version", "version_info",
)  # fmt: skip
TIME = (
    "gmtime", "localtime", "mktime", "sleep", "sleep_ms", "sleep_us", "ticks_add", "ticks_cpu", "ticks_diff", "ticks_ms",
    "ticks_us", "time", "time_ns",
)  # fmt: skip
MODULES = (
    "array", "asyncio", "binascii", "builtins", "collections", "cryptolib", "deflate", "dht",
    "ds18x20", "errno", "esp32", "flashbdev", "gc",
    "hashlib", "heapq", "io", "json", "machine", "math", "micropython", "network", "ntptime", "onewire", "os", "random", "re",
    "select", "socket", "ssl", "struct", "sys", "time", "tls", "uctypes", "vfs",
)  # fmt: skip
