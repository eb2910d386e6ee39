/* A plugin for qemu that counts the instructions which the emulated program executes, all its threads together.
 *
 * qemu's header for plugins is not packaged, so what is used of its interface is declared here (QEMU, "TCG
 * Plugins"); PLUGIN_VERSION is that of the interface. The count goes to the file named by the argument out=PATH.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum { NO_REGISTERS = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = PLUGIN_VERSION;

static uint64_t executed;
static char path[4096];

static void run_block(unsigned cpu, void *instructions)
{
    (void)cpu;
    __atomic_fetch_add(&executed, (uint64_t)(uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    void *count = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, run_block, NO_REGISTERS, count);
}

static void ended(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    FILE *f = fopen(path, "w");
    if (!f) return;
    fprintf(f, "%llu\n", (unsigned long long)executed);
    fclose(f);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                                                               char **argv)
{
    (void)info;
    for (int k = 0; k < argc; k++)
        if (!strncmp(argv[k], "out=", 4)) snprintf(path, sizeof path, "%s", argv[k] + 4);
    if (!path[0]) return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
