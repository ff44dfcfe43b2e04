"""Runs inside the sandbox: cells from standard input, a line each; a mark behind the output of each."""

import sys
import traceback

names = {"__name__": "__main__"}
for line in sys.stdin:
    mark, source = line.split()
    try:
        exec(compile(bytes.fromhex(source).decode(), "<cell>", "exec"), names)
    except KeyboardInterrupt:
        print("interrupted")
    except Exception as error:
        print("".join(traceback.format_exception_only(error)), end="")
    print(mark, flush=True)
