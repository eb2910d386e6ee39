/* Forbids the process to start others: a kernel that forks would take all that the machine has before anyone could stop it.
 *
 * Threads stay allowed. A filter of system calls (seccomp), as the limit on processes (RLIMIT_NPROC) counts all those of a user
 * and does not hold for root. Where the system has no such filter, what watches the harness from outside is all there is.
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

/* If the value is k, return `action`; else go on behind. */
#define ON(k, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))

static void stay_alone(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, REFUSE(EPERM)),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_fork
        ON(SYS_fork, REFUSE(EPERM)),
        ON(SYS_vfork, REFUSE(EPERM)),
#endif
        ON(435 /* clone3 */, REFUSE(ENOSYS)), /* its flags are in memory: libraries then take clone */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])), /* the lower half */
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
