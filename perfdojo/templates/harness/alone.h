/* Leaves the process alone: from here on it starts no other, opens no connection, and does not reach into those of others.
 *
 * A kernel that forks would take all that the machine has before anyone could stop it; one that is wrong has no business on the
 * network, and none with other processes of the user. Threads stay allowed, and files and memory, which other limits hold down.
 * A filter of system calls (seccomp), as the limit on processes (RLIMIT_NPROC) counts all those of a user and does not hold for
 * root. Where the system has no such filter, what watches the harness from outside is all there is.
 */
#ifndef PERFDOJO_ALONE_H
#define PERFDOJO_ALONE_H

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE AUDIT_ARCH_RISCV64
#endif

#if defined(__linux__) && defined(NATIVE)
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* If the value is k, return `action`; else go on behind. */
#define ON(k, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what)) /* of 64 bits the lower half */

static void stay_alone(void)
{
    struct sock_filter code[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, REFUSE(EPERM)),
        LOAD(nr),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* the same calls by other numbers (x32) */
        BPF_STMT(BPF_RET | BPF_K, REFUSE(EPERM)),
        ON(SYS_fork, REFUSE(EPERM)),
        ON(SYS_vfork, REFUSE(EPERM)),
#endif
        ON(435 /* clone3 */, REFUSE(ENOSYS)), /* its flags are in memory: libraries then take clone */
        ON(SYS_socket, REFUSE(EPERM)),
        ON(425 /* io_uring_setup */, REFUSE(EPERM)), /* it opens sockets and files past this filter */
        ON(SYS_ptrace, REFUSE(EPERM)),
        ON(SYS_process_vm_writev, REFUSE(EPERM)),
        ON(SYS_tkill, REFUSE(EPERM)),
        ON(SYS_rt_sigqueueinfo, REFUSE(EPERM)),
        ON(434 /* pidfd_open */, REFUSE(EPERM)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 1, 0), /* these two: itself alone */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)getpid(), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, REFUSE(EPERM)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, REFUSE(EPERM)),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
#else
static void stay_alone(void) {}
#endif

#endif
