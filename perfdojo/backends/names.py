"""C identifiers: names that C or the emitted code needs for itself are changed, always in the same way."""

from __future__ import annotations

from collections.abc import Iterable


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary
    _Noreturn _Static_assert _Thread_local alignas alignof and and_eq asm bitand bitor bool catch
    char8_t char16_t char32_t class compl concept consteval constexpr constinit const_cast co_await
    co_return co_yield decltype delete dynamic_cast explicit export false friend mutable namespace
    new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast
    requires static_assert static_cast template this thread_local throw true try typeid typename
    using virtual wchar_t xor xor_eq typeof typeof_unqual
    """
)
"""Keywords of C23 and C++20: the header is read by both."""

TAKEN = _words(
    """
    main errno assert NULL INFINITY NAN HUGE_VAL HUGE_VALF EOF FLT_MAX DBL_MAX M_PI linux unix i386
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t
    uintptr_t malloc free aligned_alloc calloc realloc abort exit memcpy memset memmove abs labs
    llabs div ldiv index fabs fabsf fma fmaf sqrt sqrtf floor floorf ceil ceilf round roundf rint
    rintf nearbyint nearbyintf trunc truncf fmin fminf fmax fmaxf fmod fmodf exp expf exp2 exp2f
    expm1 log logf log2 log2f log1p log10 pow powf sin sinf cos cosf tan tanf asin acos atan atan2
    sinh cosh tanh tanhf erf erff erfc gamma lgamma tgamma j0 j1 jn y0 y1 yn ldexp frexp modf scalbn
    ilogb logb copysign copysignf isnan isinf isfinite signbit hypot cbrt remainder remquo nan nanf
    nextafter fdim signgam memory threads failed
    """
)
"""Macros and functions of the C library's headers, and names that the emitted code uses."""

LIBRARY = _words(
    """
    acosf acosh acoshf alarm asctime asinf asinh asinhf atan2f atanf atanh atanhf atexit atof atoi
    atol atoll bind brk bsearch bzero cabs cexp clearerr clock clog close closedir connect cosf
    coshf cpow csin csqrt ctime difftime dlopen dlsym dup dup2 environ erfcf exec execve exp10 fclose
    fcntl feof ferror fflush ffs fgetc fgetpos fgets fileno fmodf fopen fork fprintf fputc fputs
    fread freopen frexpf fscanf fseek fsetpos ftell fwrite getc getchar getenv getpid gets
    getuid gmtime hypotf isalnum isalpha isatty isblank iscntrl isdigit isgraph islower isprint
    ispunct isspace isupper isxdigit kill ldexpf lgammaf link listen llrint llround localeconv
    localtime log10f log1pf longjmp lrint lround lseek memchr memcmp mktime mmap modff mprotect
    munmap nice open opendir optarg optind pause perror pipe poll posix_memalign printf putc putchar
    putenv puts qsort raise rand random read readdir recv remainderf remove rename rewind sbrk scanf
    select send setbuf setenv setjmp setlocale setvbuf shutdown sigaction signal sinhf sleep
    snprintf socket sprintf srand srandom sscanf stat stderr stdin stdout strcat strchr strcmp
    strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr
    strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm sync syscall
    system tanhl tgammaf time times tmpfile tmpnam tolower toupper truncate umask ungetc unlink
    utime valloc vfprintf vfork vprintf vscanf vsnprintf vsprintf wait waitpid wcscmp wcscpy wcslen
    write perfdojo_build perfdojo_call perfdojo_description perfdojo_python perfdojo_vectorcall
    """
)
"""What else a program may link: a kernel of such a name would take the function's place."""


class Names:
    """Gives every name of one function its C identifier."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._given: dict[tuple[str, str], str] = {}

    def give(self, kind: str, name: str) -> str:
        """Return the identifier of `name`; `kind` (buffer, variable, function) keeps equal names apart."""
        found = self._given.get((kind, name))
        if found is None:
            found = self._given[kind, name] = self._free(name, LIBRARY if kind == "function" else frozenset())
            self._taken.add(found)
        return found

    def _free(self, name: str, linked: frozenset[str]) -> str:
        # No suffix makes a name free that is reserved for how it begins: such a one gets a letter in front.
        stem = f"k{name}" if _begins_reserved(name) else name
        free, number = stem, 1
        while free in self._taken or free in linked or reserved(free):
            free = f"{stem}_" if number == 1 and f"{stem}_" not in self._taken else f"{stem}_{number}"
            number += 1
        return free


def reserved(name: str) -> bool:
    """Tell whether C, its library or the emitted code needs this identifier."""
    return name in KEYWORDS or name in TAKEN or _begins_reserved(name)


def _begins_reserved(name: str) -> bool:
    return name.startswith(("__", "pd_", "snitch_", "_mm", "omp_", "PERFDOJO", "INT", "UINT", "PD_")) or (
        name.startswith("_") and name[1:2].isupper()
    )
