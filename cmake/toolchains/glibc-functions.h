// SPDX-License-Identifier: Apache-2.0
// Functions of memory and mathematics come from glibc when zig links a library: its own replacements, which it links in
// whether or not they are needed, are slower (memset takes twice as long) and round differently. A reference with a
// version is not bound to them. zig-linux.cmake includes this file first in each source. The versions are those of
// glibc's first release for the machine, but for memcpy on x86-64: its version 2.2.5 is memmove, kept for old programs,
// and its version 2.14 is memcpy.
#pragma once

#define TENON_FROM_GLIBC(name, version) __asm__(".symver " #name ", " #name "@GLIBC_" version);
#if defined(__x86_64__)
#define TENON_FIRST_GLIBC "2.2.5"
TENON_FROM_GLIBC(memcpy, "2.14")
#elif defined(__aarch64__)
#define TENON_FIRST_GLIBC "2.17"
TENON_FROM_GLIBC(memcpy, TENON_FIRST_GLIBC)
#endif
#define TENON_FROM_FIRST_GLIBC(name) TENON_FROM_GLIBC(name, TENON_FIRST_GLIBC)
#define TENON_FLOATS_FROM_GLIBC(name) TENON_FROM_FIRST_GLIBC(name) TENON_FROM_FIRST_GLIBC(name##f)

TENON_FROM_FIRST_GLIBC(memmove)
TENON_FROM_FIRST_GLIBC(memset)
TENON_FROM_FIRST_GLIBC(memcmp)
TENON_FROM_FIRST_GLIBC(bcmp)
TENON_FROM_FIRST_GLIBC(strlen)

TENON_FLOATS_FROM_GLIBC(ceil)
TENON_FLOATS_FROM_GLIBC(floor)
TENON_FLOATS_FROM_GLIBC(round)
TENON_FLOATS_FROM_GLIBC(trunc)
TENON_FLOATS_FROM_GLIBC(fma)
TENON_FLOATS_FROM_GLIBC(fmod)
TENON_FLOATS_FROM_GLIBC(fmax)
TENON_FLOATS_FROM_GLIBC(fmin)
TENON_FLOATS_FROM_GLIBC(sqrt)
TENON_FLOATS_FROM_GLIBC(sin)
TENON_FLOATS_FROM_GLIBC(cos)
TENON_FLOATS_FROM_GLIBC(sincos)
TENON_FLOATS_FROM_GLIBC(tan)
TENON_FLOATS_FROM_GLIBC(exp)
TENON_FLOATS_FROM_GLIBC(exp2)
TENON_FLOATS_FROM_GLIBC(log)
TENON_FLOATS_FROM_GLIBC(log2)
TENON_FLOATS_FROM_GLIBC(log10)

#undef TENON_FLOATS_FROM_GLIBC
#undef TENON_FROM_FIRST_GLIBC
#undef TENON_FIRST_GLIBC
#undef TENON_FROM_GLIBC
