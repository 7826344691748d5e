/* The compiled part for x86-64 with AVX2, FMA and F16C, and in places, where the processor has it, with 512 bits. */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma,f16c")
#define FORM(name) name##_avx2
#include "step.c"
#include "rows.c"
#include "prompt.c"
#include "widen.c"
#include "read.c"
#include "layers.c"
#endif
