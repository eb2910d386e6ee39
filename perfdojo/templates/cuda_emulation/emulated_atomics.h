/* Atomic operations: one access that the runtime knows to be atomic, made at once as no other fiber runs. */
#pragma once

extern "C" void perfdojo_atomic(void *address, size_t bytes, int is_float, const void *from);

#define PERFDOJO_ATOMIC(name, T, expression, is_float)                                           \
    inline PERFDOJO_UNSEEN T name(T *address, T value)                                           \
    {                                                                                            \
        perfdojo_atomic(address, sizeof(T), is_float, __builtin_return_address(0));                                           \
        T old = *address;                                                                        \
        *address = (T)(expression);                                                              \
        return old;                                                                              \
    }
#define PERFDOJO_INTEGER_ATOMICS(T, U)                                                           \
    PERFDOJO_ATOMIC(atomicAdd, T, (U)old + (U)value, 0)                                          \
    PERFDOJO_ATOMIC(atomicMin, T, value < old ? value : old, 0)                                  \
    PERFDOJO_ATOMIC(atomicMax, T, value > old ? value : old, 0)                                  \
    PERFDOJO_ATOMIC(atomicAnd, T, old &value, 0)                                                 \
    PERFDOJO_ATOMIC(atomicOr, T, old | value, 0)                                                 \
    PERFDOJO_ATOMIC(atomicXor, T, old ^ value, 0)                                                \
    PERFDOJO_ATOMIC(atomicExch, T, value, 0)                                                     \
    inline PERFDOJO_UNSEEN T atomicCAS(T *address, T compare, T value)                           \
    {                                                                                            \
        /* loops around it may do anything, floats too */                                         \
        perfdojo_atomic(address, sizeof(T), 1, __builtin_return_address(0)); \
        T old = *address;                                                                        \
        *address = old == compare ? value : old;                                                 \
        return old;                                                                              \
    }

PERFDOJO_INTEGER_ATOMICS(int, unsigned)
PERFDOJO_INTEGER_ATOMICS(unsigned, unsigned)
PERFDOJO_INTEGER_ATOMICS(unsigned long long, unsigned long long)
PERFDOJO_ATOMIC(atomicMin, long long, value < old ? value : old, 0)
PERFDOJO_ATOMIC(atomicMax, long long, value > old ? value : old, 0)
PERFDOJO_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)value, 0)
PERFDOJO_ATOMIC(atomicSub, unsigned, old - value, 0)
PERFDOJO_ATOMIC(atomicAdd, float, old + value, 1)
PERFDOJO_ATOMIC(atomicAdd, double, old + value, 1)
PERFDOJO_ATOMIC(atomicExch, float, value, 1)
#undef PERFDOJO_ATOMIC
#undef PERFDOJO_INTEGER_ATOMICS
