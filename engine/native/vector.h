/* Eight numbers at a time: arithmetic, sums, number types, the exponential.

   Everything else is written in these functions. With AVX2 `f8` is one register; everywhere else it is two vectors of
   four in the portable types of gcc and clang, which become NEON on ARM, and whatever the processor has elsewhere. */

#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef float f4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef uint32_t u4 __attribute__((vector_size(16)));

INLINE void write4(float *to, f4 numbers) { memcpy(to, &numbers, sizeof numbers); }

INLINE float float_of(uint32_t bits) {
    float number;
    memcpy(&number, &bits, 4);
    return number;
}

/* One bf16 number. */
INLINE float wide(uint16_t half) { return float_of((uint32_t)half << 16); }

#ifdef __AVX2__
#include "eight_avx2.h"
#else
#include "eight_plain.h"
#endif

/* Eight numbers of either type, by index. bf16 is rounded to the nearest, halves to even; NaN stays NaN. */
INLINE f8 load8(const void *from, size_t at, int is_bf16) {
    return is_bf16 ? bf16_to_fp32((const uint16_t *)from + at) : read8((const float *)from + at);
}

INLINE void store8(void *to, size_t at, int is_bf16, f8 numbers) {
    if (is_bf16) write_bf16((uint16_t *)to + at, numbers);
    else write8((float *)to + at, numbers);
}

/* e ** x: 2 ** n times the Taylor series on what is left, at most ln(2) / 2; error about 1e-7. NaN stays NaN. */
INLINE f8 exp8(f8 x) {
    x = higher8(set8(-87.0f), lower8(set8(88.0f), x));
    const f8 n = round8(mul8(x, set8(1.44269504f)));
    f8 rest = less8(n, set8(0.693359375f), x); /* ln(2) in two parts */
    rest = less8(n, set8(-2.12194440e-4f), rest);
    const float terms[] = {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    f8 sum = set8(1.0f / 720);
    for (int i = 0; i < 6; i++) sum = fma8(sum, rest, set8(terms[i]));
    return times_power8(sum, n);
}

/* x / (1 + exp(-x)) */
INLINE f8 silu8(f8 x) { return div8(x, add8(set8(1.0f), exp8(sub8(set8(0.0f), x)))); }

/* x bounded by `cap`: cap * tanh(x / cap). */
INLINE f8 capped8(f8 x, float cap) {
    const f8 one = set8(1.0f), power = exp8(mul8(x, set8(2.0f / cap)));
    const f8 rest = div8(set8(2.0f), add8(power, one));
    return mul8(sub8(one, rest), set8(cap));
}

/* x times the share of a normal distribution that lies below x: https://arxiv.org/abs/1606.08415, as it is, and by the
   approximation of the same paper, x / (1 + exp(-2 u)). */
INLINE f8 gelu8(f8 x) {
    float numbers[8];
    write8(numbers, x);
    for (int i = 0; i < 8; i++) numbers[i] *= 0.5f * (1.0f + erff(numbers[i] * 0.70710678f));
    return read8(numbers);
}

INLINE f8 gelu_tanh8(f8 x) {
    const f8 cubic = fma8(mul8(x, x), set8(0.044715f), set8(1.0f));
    const f8 exponent = mul8(mul8(x, cubic), set8(-1.5957691216f)); /* -2 sqrt(2 / pi) */
    return div8(x, add8(set8(1.0f), exp8(exponent)));
}

/* exp(score - most) of `count` scores in place, a multiple of eight; returns their sum. NaN stays NaN, and so no
   maximum needs to know of it. */
INLINE float exponentiate(float *scores, int count, float most) {
    f8 sum = set8(0.0f);
    for (int key = 0; key < count; key += 8) {
        const f8 weight = exp8(sub8(read8(scores + key), set8(most)));
        write8(scores + key, weight);
        sum = add8(sum, weight);
    }
    return sum8(sum);
}

/* The highest of `count` scores, a multiple of eight. */
INLINE float highest(const float *scores, int count) {
    f8 most = read8(scores);
    for (int key = 8; key < count; key += 8) most = higher8(most, read8(scores + key));
    return max8(most);
}
