"""What is planted in candidates, and in compilers: what it does, and what it has to be called."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.tuning.runners.host import HostRunner
from perfdojo.tuning.space import Point

HEAD = """
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
"""


@dataclass(frozen=True, slots=True)
class Plant:
    """Something hostile.

    Attributes:
        code: what a kernel begins with.
        outcomes: that it may have, separated by blanks.
        head: what the file begins with.
        compiler: what a shell does in place of the compiler.
        when_late: it does the same where a kernel is called for the third time, when it is timed.
        is_slow: it takes seconds, so there is none in the fast tests.
    """

    code: str
    outcomes: str
    head: str = ""
    compiler: str = ""
    when_late: bool = True
    is_slow: bool = False


def _compiler(does: str, outcomes: str) -> Plant:
    return Plant("", outcomes, compiler=does, when_late=False)


def _not_c(code: str, outcomes: str, head: str = "") -> Plant:
    return Plant(code, outcomes, head, when_late=False)


_DOUBLED = "\n".join(f"#define A{n + 1} A{n} A{n}" for n in range(40))

PLANTS = {
    "segfault": Plant("*(volatile int *)0 = 1;", "crash"),
    "overrun": Plant("memset(y, 0, 1 << 24);", "crash memory-overwrite"),
    "recursion": Plant("deeper(y);", "crash", "void deeper(volatile float *y) { deeper(y); *y = 1; }\n"),
    "endless": Plant("for (volatile int k = 0; ; k++) ;", "timeout"),
    "sleeps": Plant("for (;;) sleep(1000);", "timeout"),
    "deaf": Plant(
        "sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, 0); for (;;) pause();",
        "timeout",
        is_slow=True,
    ),
    "fork bomb": Plant("for (;;) if (fork() < 0) abort();", "crash"),
    "thread bomb": Plant(
        "pthread_t t; for (;;) if (pthread_create(&t, 0, idle, 0)) abort();",
        "crash timeout",
        "static void *idle(void *p) { for (;;) pause(); return p; }\n",
    ),
    "allocation": Plant(  # 70 GiB
        "for (int k = 0; k < 9000; k++) memset(calloc(8 << 20, 1), 1, 8 << 20);", "crash timeout"
    ),
    "large allocation": Plant("y[0] = ((float *)memset(malloc(10ull << 30), 1, 10ull << 30))[7];", "crash"),
    "full disk": Plant(
        "static char b[1 << 20]; FILE *f = tmpfile(); while (f && fwrite(b, sizeof b, 1, f)) ; abort();",
        "crash",
    ),
    "many files": Plant(
        "char n[32]; for (int k = 0; ; k++) {"
        ' sprintf(n, "f%d", k); close(open(n, O_CREAT | O_WRONLY, 0600)); }',
        "timeout",
    ),
    "output": Plant('for (;;) puts("a line that nobody wants to read, again and again and again");', "crash"),
    "kills itself": Plant("kill(getpid(), SIGKILL);", "out-of-memory"),
    "stops itself": Plant("kill(getpid(), SIGSTOP);", "crash"),
    "exits": Plant("_exit(0);", "crash"),
    # these end as they should where they are not told no, which is then no crash
    "network": Plant(
        "struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = 9};"
        " int s = socket(AF_INET, SOCK_STREAM, 0);"
        " if (s < 0 && errno == EPERM) abort(); else connect(s, (void *)&a, sizeof a);",
        "crash",
    ),
    "io_uring": Plant("char p[120] = {0}; if (syscall(425, 1, p) < 0 && errno == EPERM) abort();", "crash"),
    "others": Plant("if (kill(getppid(), 0) && errno == EPERM) abort();", "crash"),
    "wrong element": Plant("y[17] = 1e30f; return 0;", "wrong-result", when_late=False),
    "no C": _not_c("this is no C;", "compile-error"),
    "includes itself": _not_c("", "compile-error", "#include __FILE__\n"),
    "grows in the compiler": _not_c(
        "A40;", "compile-error out-of-memory timeout", f"#define A0 y[0]++;\n{_DOUBLED}\n"
    ),
    "compiler segfaults": _compiler("kill -SEGV $$", "compile-error"),
    "compiler is killed": _compiler("kill -KILL $$", "out-of-memory"),
    "compiler hangs": _compiler("exec sleep 1000", "timeout"),
    "compiler stops": _compiler("kill -STOP $$", "compile-error"),
    "compiler floods": _compiler("exec yes", "compile-error"),
    "compiler starts processes": _compiler(
        "for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do sleep 1000 & done; wait", "compile-error"
    ),
    "compiler fills the disk": _compiler("exec cat /dev/zero > kernel.so", "compile-error"),
    "compiler makes nothing": _compiler("exit 0", "compile-error"),
    "compiler makes garbage": _compiler("echo garbage > kernel.so", "not-runnable"),
}


@dataclass
class Planted(HostRunner):
    """Puts a plant at the beginning of each candidate; `late`: where it is called for the third time."""

    plant: Plant = Plant("", "ok")
    late: bool = False

    def source(self, point: Point) -> EmittedSource:
        made = super().source(point)
        code = self.plant.code
        if self.late:
            code = f"static int calls; if (++calls == 3) {{ {code} }}"
        return with_planted(made, HEAD + self.plant.head, code)


def with_planted(made: EmittedSource, head: str, code: str) -> EmittedSource:
    """Return a source whose file begins with `head`, and whose function begins with `code`."""
    (name, text), *others = made.files
    at = re.search(rf"\bint {made.symbol}\([^)]*\) {{", text)
    assert at is not None
    planted = f"{head}{text[: at.end()]} {{ {code} }} {text[at.end() :]}"
    # some headers are there already, compiled before, so no line of the file decides on what they declare
    return replace(made, files=((name, planted), *others), flags=(*made.flags, "-D_GNU_SOURCE"))


def compiler_that(does: str, folder: Path) -> Path:
    """Return a compiler that does something else for candidates, and is gcc for all the rest."""
    path = folder / "compiler"
    path.write_text(f'#!/bin/sh\ncase "$*" in *perfdojo-call.c*) {does} ;; *) exec gcc "$@" ;; esac\n')
    path.chmod(0o755)
    return path


def marked(mark: str) -> list[str]:
    """Return the living processes whose environment has `mark`, wherever they come from."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z" and mark.encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found
