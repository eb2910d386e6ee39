/* The emulated device: grid, blocks, warps, shared and global memory, for correctness only.
 *
 * Blocks run one after the other, the threads of a block as fibers that are chosen at random whenever one waits.
 * Detected at the access: races, deadlocks, accesses out of bounds, reads of what nothing wrote. Not seen: memory
 * order through volatile variables and fences; atomics order nothing but themselves.
 */
#include "runtime.h"

#include "fibers.h"
#include "state.h"
#include "shadow.h"
#include "memory.h"
#include "undefined.h"
#include "schedule.h"
#include "copies.h"
#include "workspaces.h"
#include "launch.h"

struct limits device_limits;

extern "C" {
void know_kernel(size_t offset, const char *signature, size_t shared_bytes, const char *name)
{
    kernels.push_back({offset, shared_bytes, name, strcmp(signature, "-") ? signature : "", 0});
}

void know_shared(size_t offset, size_t bytes, const char *name) { shared_arrays.push_back({offset, bytes, name}); }

void start_device(char *from, char *to, char *dynamic, size_t offset, size_t room, size_t bytes)
{
    library = from, library_end = to;
    module_region = Region{from, (size_t)(to - from), "the library", Region::MODULE, 2, {}};
    module_region.cells.resize((module_region.bytes >> 2) + 1);
    shared_region = Region{dynamic - offset, bytes, "shared memory", Region::SHARED, 2, {}};
    shared_region.cells.resize((bytes >> 2) + 1);
    dynamic_offset = offset, dynamic_room = room;
    make_stacks();
    for (auto &warp : clocks)
        for (unsigned k = 0; k < 32; k++) warp[k][k] = 1;
}

void start_run(uint64_t number)
{
    seed = random_state = number;
    for (Region *r : regions) delete r;
    regions.clear();
    last_region = &shared_region;
    launches.clear();
    for (Kernel &k : kernels) k.dynamic_most = 0;
}

void know_argument(const char *name, char *data, size_t bytes, enum role role)
{
    static const decltype(Region::kind) kinds[] = {Region::ARGUMENT_IN, Region::ARGUMENT_OUT, Region::ARGUMENT_INOUT};
    add_region(name, data, bytes, kinds[role]);
}

void end_run(void) { release_workspaces(); }
}
