// Counters of issues and stalls, and the report: one JSON object.
#include "stats.h"
#include <stdlib.h>
#include "memory.h"

static const char *const names[STALLS] = {
  [ST_LOAD] = "load", [ST_FP] = "fp", [ST_MULDIV] = "muldiv", [ST_SSR] = "stream_config", [ST_DMA] = "dma",
  [ST_PORT] = "write_port", [ST_OFFLOAD] = "offload", [ST_LSU] = "lsu", [ST_FENCE] = "fence", [ST_ICACHE] = "icache",
  [ST_BARRIER] = "barrier", [FS_RAW] = "fp_raw", [FS_WAW] = "fp_waw", [FS_EMPTY] = "stream_empty", [FS_FULL] = "stream_full",
  [FS_LSU] = "fp_lsu", [FS_FPU] = "fpu_busy", [FS_IDLE] = "fp_idle", [FS_FREP] = "frep_wait",
};

PcStat *stat_of(Cluster *c, uint32_t pc) {
  Page *p = page_at(c, pc);
  if (!p->stat) p->stat = calloc(PAGE_WORDS, sizeof *p->stat);
  if (!p->stat) abort();
  return &p->stat[(pc >> 2) & (PAGE_WORDS - 1)];
}

static void put_stalls(FILE *out, const uint64_t *stalls) {
  const char *sep = "";
  fputs("{", out);
  for (int i = 0; i < STALLS; i++) {
    if (!names[i] || !stalls[i]) continue;
    fprintf(out, "%s\"%s\": %llu", sep, names[i], (unsigned long long)stalls[i]);
    sep = ", ";
  }
  fputs("}", out);
}

static void put_text(FILE *out, const char *s) {
  fputc('"', out);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') fputc('\\', out);
    fputc(*s, out);
  }
  fputc('"', out);
}

static void put_harts(const Cluster *c, FILE *out) {
  fputs("\"harts\": [", out);
  for (uint32_t i = 0; i < c->harts; i++) {
    const Hart *h = &c->hart[i];
    fprintf(out, "%s\n{\"id\": %u, \"pc\": %u, \"instret\": %llu, \"fpu_issues\": %llu, \"seq_issues\": %llu, \"offloads\": %llu, \"utilisation\": %.4f, \"stalls\": ",
            i ? "," : "", i, h->pc, (unsigned long long)h->instret, (unsigned long long)h->fpu_issues, (unsigned long long)h->seq_issues,
            (unsigned long long)h->offloads, c->now ? (double)h->fpu_issues / (double)c->now : 0.0);
    put_stalls(out, h->stalls);
    fputs("}", out);
  }
  fputs("]", out);
}

static void put_instructions(const Cluster *c, FILE *out) {
  const char *sep = "";
  fputs(",\n\"instructions\": [", out);
  for (uint32_t i = 0; i < 1u << (32 - PAGE_BITS); i++) {
    const Page *p = c->pages[i];
    if (!p || !p->stat) continue;
    for (uint32_t k = 0; k < PAGE_WORDS; k++) {
      const PcStat *s = &p->stat[k];
      uint64_t any = s->cycles | s->fpu;
      for (int j = 0; j < STALLS; j++) any |= s->stalls[j];
      if (!any) continue;
      fprintf(out, "%s\n{\"pc\": %u, \"count\": %llu, \"cycles\": %llu, \"fpu\": %llu, \"stalls\": ", sep, (i << PAGE_BITS) + 4 * k,
              (unsigned long long)s->count, (unsigned long long)s->cycles, (unsigned long long)s->fpu);
      put_stalls(out, s->stalls);
      fputs("}", out);
      sep = ",";
    }
  }
  fputs("]", out);
}

void report(Cluster *c, FILE *out) {
  const char *status = c->failed ? "error" : c->stop ? "exit" : "cycles";
  fprintf(out, "{\"status\": \"%s\", \"exit_code\": %u, \"cycles\": %llu", status, c->exit_code, (unsigned long long)c->now);
  if (c->failed) {
    fprintf(out, ",\n\"error\": {\"hart\": %u, \"pc\": %u, \"word\": %u, \"cycle\": %llu, \"reason\": ", c->err_hart, c->err_pc, c->err_word,
            (unsigned long long)c->err_cycle);
    put_text(out, c->reason);
    fputs("}", out);
  }
  if (c->trap_reason[0]) {
    fprintf(out, ",\n\"trap\": {\"pc\": %u, \"word\": %u, \"cause\": %u, \"reason\": ", c->trap_pc, c->trap_word, c->trap_cause);
    put_text(out, c->trap_reason);
    fputs("}", out);
  }
  fprintf(out, ",\n\"tcdm_accesses\": %llu, \"tcdm_conflicts\": %llu, \"dma_bytes\": %llu, \"dma_busy_cycles\": %llu,\n",
          (unsigned long long)c->tcdm.accesses, (unsigned long long)c->tcdm.conflicts, (unsigned long long)c->dma.bytes_moved,
          (unsigned long long)c->dma.busy_cycles);
  put_harts(c, out);
  if (c->flags & F_STATS) put_instructions(c, out);
  fputs("}\n", out);
}
