"""The C of a shared library that CPython calls on arrays which do not change, with no conversion between."""

from __future__ import annotations

from perfdojo.compiler.emitted import C_TYPES, EmittedSource

CALL_SYMBOL, TABLE_SYMBOL = "perfdojo_vectorcall", "perfdojo_python"

HELD_WORK = 1 << 16
"""Kernels of fewer operations and bytes, a microsecond or two in vectors, keep the interpreter's lock: to
release and take it costs 30 ns, and other threads wait longer for each other."""

_TEXT = """\
/* A `run` of perfdojo.load(): CPython calls this with the object, which holds a pointer to its plan. */
#include <stddef.h>
#include <stdint.h>

struct perfdojo_python {{
    size_t plan;
    void *(*new_reference)(void *);
    void *(*save_thread)(void);
    void (*restore_thread)(void *);
    void (*set_error)(void *, const char *);
    void *memory_error, *type_error;
}};

struct plan {{
    void *result;
    void *arguments[{room}];
}};

int {symbol}({types});
extern struct perfdojo_python {table};
void *{call}(void *run, void *const *arguments, size_t count, void *names);

/* Filled in by perfdojo.load(): nothing here depends on the version of Python. */
struct perfdojo_python {table};

void *{call}(void *run, void *const *arguments, size_t count, void *names)
{{
    const struct plan *plan = *(const struct plan **)((char *)run + {table}.plan);
    (void)arguments;
    if (count << 1 || names) {{  /* the highest bit is no argument */
        {table}.set_error({table}.type_error, "a run takes no arguments");
        return NULL;
    }}
{invoke}
    if (failed) {{
        {table}.set_error({table}.memory_error, "kernel {kernel} could not allocate a temporary");
        return NULL;
    }}
    return {table}.new_reference(plan->result);
}}
"""


def vectorcall_file(emitted: EmittedSource) -> tuple[str, str]:
    """Return the C file with `perfdojo_vectorcall` and the table of what it needs of Python, still empty."""
    types = [f"{'const ' if a.role == 'in' else ''}{C_TYPES[a.dtype]} *" for a in emitted.arguments]
    values = [f"plan->arguments[{k}]" for k in range(len(types))]
    invoke = [f"    const int failed = {emitted.symbol}({', '.join(values)});"]
    if emitted.flops + emitted.integer_ops + emitted.footprint_bytes >= HELD_WORK:
        save = f"    void *thread = {TABLE_SYMBOL}.save_thread();"
        invoke = [save, *invoke, f"    {TABLE_SYMBOL}.restore_thread(thread);"]
    text = _TEXT.format(
        room=max(1, len(types)),
        symbol=emitted.symbol,
        types=", ".join(types) or "void",
        kernel=emitted.kernel,
        invoke="\n".join(invoke),
        call=CALL_SYMBOL,
        table=TABLE_SYMBOL,
    )
    return "perfdojo-vectorcall.c", text  # a name that no kernel, and so no source of one, can have
