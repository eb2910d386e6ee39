// snitchsim JOB DUMP [EVENTS]: runs a job file, writes the dumped memory to DUMP, the report (JSON) to standard output.
// Exit code 0 also for errors of the simulated program, which are in the report; 2 for a bad job file.
//
// Job file, little endian: char magic[8] "PDSNITCH"; u32 version 1, entry, cores (1..8), flags (1 divide and square root unit,
// 2 counts per instruction, 4 event log, 8 DMA hart with id `cores`); u64 cycle limit; u32 tohost (0 none), segments, dumps, 0;
// segments: u32 address, bytes in the file, bytes in memory, 0; data padded to 8; dumps: u32 address, bytes.
// All harts start at `entry`. The run ends with a store to 0xd0000000 (exit code) or of a non-zero word to tohost (code << 1 | 1),
// with an error, or at the cycle limit. The report is described in README.md, the event log in events.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cluster.h"
#include "memory.h"
#include "stats.h"

typedef struct { uint8_t *data; size_t size, at; } File;

static bool read_file(const char *path, File *f) {
  FILE *in = fopen(path, "rb");
  if (!in) return false;
  fseek(in, 0, SEEK_END);
  long n = ftell(in);
  rewind(in);
  f->data = n > 0 ? malloc((size_t)n) : 0, f->size = (size_t)n, f->at = 0;
  bool good = f->data && fread(f->data, 1, f->size, in) == f->size;
  fclose(in);
  return good;
}

static uint32_t get32(File *f) {
  uint32_t v = 0;
  if (f->at + 4 <= f->size) memcpy(&v, f->data + f->at, 4);
  f->at += 4;
  return v;
}

// Bytes from addr to the end of its page, n at most.
static uint32_t in_page(uint32_t addr, uint32_t n) {
  uint32_t rest = (1u << PAGE_BITS) - (addr & ((1u << PAGE_BITS) - 1));
  return n < rest ? n : rest;
}

static bool load_segment(Cluster *c, File *f) {
  uint32_t addr = get32(f), bytes = get32(f), room = get32(f);
  get32(f);
  if (f->at + bytes > f->size || room < bytes) return false;
  for (uint32_t i = 0, n; i < bytes; i += n) {
    uint8_t *p = bytes_at(c, addr + i);
    if (!p) return false;
    n = in_page(addr + i, bytes - i);
    memcpy(p, f->data + f->at + i, n);
  }
  f->at += (bytes + 7u) & ~7u;
  return true;
}

static bool dump(Cluster *c, File *f, uint32_t n, FILE *out) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t addr = get32(f), bytes = get32(f);
    for (uint32_t k = 0, run; k < bytes; k += run) {
      const uint8_t *p = bytes_at(c, addr + k);
      if (!p) return false;
      run = in_page(addr + k, bytes - k);
      if (fwrite(p, 1, run, out) != run) return false;
    }
  }
  return true;
}

static int bad(const char *what) {
  fprintf(stderr, "snitchsim: %s\n", what);
  return 2;
}

int main(int argc, char **argv) {
  File f;
  if (argc < 3) return bad("usage: snitchsim JOB DUMP [EVENTS]");
  if (!read_file(argv[1], &f)) return bad("cannot read the job file");
  if (f.size < 48 || memcmp(f.data, "PDSNITCH", 8)) return bad("not a job file");
  f.at = 8;
  uint32_t version = get32(&f), entry = get32(&f), cores = get32(&f), flags = get32(&f), low = get32(&f), high = get32(&f);
  uint32_t tohost = get32(&f), segments = get32(&f), dumps = get32(&f);
  get32(&f);
  if (version != 1) return bad("job file of another version");
  if (cores < 1 || cores > MAX_CORES) return bad("cores must be 1 to 8");
  Cluster *c = cluster_new(cores, flags, entry);
  if (!c) return bad("out of memory");
  c->max_cycles = low | (uint64_t)high << 32, c->tohost = tohost;
  for (uint32_t i = 0; i < segments; i++) {
    if (!load_segment(c, &f)) return bad("a segment is truncated or lies outside memory");
  }
  if (f.at + 8ull * dumps > f.size) return bad("the list of dumps is truncated");
  if (flags & F_EVENTS && argc > 3) c->events = fopen(argv[3], "wb");
  cluster_run(c);
  if (c->events) fclose(c->events);
  FILE *out = fopen(argv[2], "wb");
  if (!out || !dump(c, &f, dumps, out) || fclose(out)) return bad("cannot write the dump");
  report(c, stdout);
  return 0;
}
