/* What -fsanitize=bounds,alignment reports: an index beyond an array, an address that a type does not allow. */
extern "C" {
struct PerfdojoLocation {
    const char *file;
    uint32_t line, column;
};
struct PerfdojoType {
    uint16_t kind, info;
    char name[1];
};
struct PerfdojoIndex {
    PerfdojoLocation at;
    const PerfdojoType *array, *index;
};
struct PerfdojoMismatch {
    PerfdojoLocation at;
    const PerfdojoType *type;
    unsigned char log_alignment, kind;
};

/* The index: as wide as its type says (bit 0 signed, above it the logarithm of the bits), in the word or behind it. */
static long long index_value(const PerfdojoType *type, uintptr_t word)
{
    unsigned bits = 1u << (type->info >> 1);
    if (bits > 64) return *(long long *)word;
    if (bits == 64 || !(type->info & 1)) return (long long)word;
    return (long long)(word << (64 - bits)) >> (64 - bits);
}

void __ubsan_handle_out_of_bounds(PerfdojoIndex *data, uintptr_t index)
{
    fail("out-of-bounds", say("%s:%u uses index %lld of an array of type %s", base_name(data->at.file), data->at.line,
                              index_value(data->index, index), data->array->name));
}
void __ubsan_handle_type_mismatch_v1(PerfdojoMismatch *data, uintptr_t address)
{
    fail(address ? "misaligned" : "out-of-bounds",
         say("%s:%u uses address %#zx as %s, which takes multiples of %u", base_name(data->at.file), data->at.line,
             (size_t)address, data->type->name, 1u << data->log_alignment));
}
}
