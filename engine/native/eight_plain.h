/* `vector.h` in the portable types of gcc and clang. What they cannot say well is said for NEON beside it. */

#pragma once
#ifdef __ARM_NEON
#include <arm_neon.h>
#endif

typedef struct {
    f4 low, high;
} f8;

typedef struct {
    u4 low, high;
} i8;

#define BOTH(type, first, second) ((type){first, second})
#define SAME(number) ((f4){number, number, number, number})

INLINE f4 read4(const float *from) {
    f4 numbers;
    memcpy(&numbers, from, sizeof numbers);
    return numbers;
}

INLINE f8 set8(float number) { return BOTH(f8, SAME(number), SAME(number)); }
INLINE f8 read8(const float *from) { return BOTH(f8, read4(from), read4(from + 4)); }
INLINE void write8(float *to, f8 v) { write4(to, v.low), write4(to + 4, v.high); }
INLINE f8 add8(f8 a, f8 b) { return BOTH(f8, a.low + b.low, a.high + b.high); }
INLINE f8 sub8(f8 a, f8 b) { return BOTH(f8, a.low - b.low, a.high - b.high); }
INLINE f8 mul8(f8 a, f8 b) { return BOTH(f8, a.low * b.low, a.high * b.high); }
INLINE f8 div8(f8 a, f8 b) { return BOTH(f8, a.low / b.low, a.high / b.high); }

/* a b + c, and c - a b. One rounding where the processor has such an instruction, else two. */
#ifdef __ARM_NEON
INLINE f4 fma4(f4 a, f4 b, f4 c) { return (f4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
INLINE f4 less4(f4 a, f4 b, f4 c) { return (f4)vfmsq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
INLINE f4 fma4(f4 a, f4 b, f4 c) { return a * b + c; }
INLINE f4 less4(f4 a, f4 b, f4 c) { return c - a * b; }
#endif
INLINE f8 fma8(f8 a, f8 b, f8 c) { return BOTH(f8, fma4(a.low, b.low, c.low), fma4(a.high, b.high, c.high)); }
INLINE f8 less8(f8 a, f8 b, f8 c) { return BOTH(f8, less4(a.low, b.low, c.low), less4(a.high, b.high, c.high)); }

/* The higher or lower number of each pair; where one is NaN, that of `b`. */
INLINE f4 choose4(i4 which, f4 a, f4 b) { return (f4)((which & (i4)a) | (~which & (i4)b)); }
INLINE f8 higher8(f8 a, f8 b) {
    return BOTH(f8, choose4(a.low > b.low, a.low, b.low), choose4(a.high > b.high, a.high, b.high));
}
INLINE f8 lower8(f8 a, f8 b) {
    return BOTH(f8, choose4(a.low < b.low, a.low, b.low), choose4(a.high < b.high, a.high, b.high));
}

/* To whole numbers, for those far below 2 ** 22: what is added leaves no room for a fraction. */
INLINE f8 round8(f8 v) { return sub8(add8(v, set8(0x1.8p23f)), set8(0x1.8p23f)); }

/* 0 where x is below `limit`, else the number; NaN is not below. */
INLINE f8 unless_below8(f8 v, f8 x, float limit) {
    const f4 limits = SAME(limit);
    return BOTH(f8, (f4)((i4)v.low & ~(x.low < limits)), (f4)((i4)v.high & ~(x.high < limits)));
}

/* numbers * 2 ** n, for whole n */
INLINE f4 power4(f4 n) { return (f4)((__builtin_convertvector(n, i4) + 127) << 23); }
INLINE f8 times_power8(f8 v, f8 n) { return mul8(v, BOTH(f8, power4(n.low), power4(n.high))); }

INLINE float sum8(f8 v) {
    const f4 four = v.low + v.high;
    return (four[0] + four[2]) + (four[1] + four[3]);
}

INLINE float max8(f8 v) {
    const f4 four = choose4(v.low > v.high, v.low, v.high);
    const float left = four[0] > four[2] ? four[0] : four[2], right = four[1] > four[3] ? four[1] : four[3];
    return left > right ? left : right;
}

INLINE float across(f8 v) { return ((v.low[0] + v.low[1]) + (v.low[2] + v.low[3])) + ((v.high[0] + v.high[1]) + (v.high[2] + v.high[3])); }

/* The sums of four vectors. */
INLINE f4 sum8x4(f8 a, f8 b, f8 c, f8 d) { return (f4){across(a), across(b), across(c), across(d)}; }

#ifdef __ARM_NEON
INLINE f8 int8_to_fp32(const int8_t *from) {
    const int16x8_t wide = vmovl_s8(vld1_s8(from));
    return BOTH(f8, (f4)vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide))), (f4)vcvtq_f32_s32(vmovl_s16(vget_high_s16(wide))));
}

INLINE f8 bf16_to_fp32(const uint16_t *from) {
    const uint16x8_t all = vld1q_u16(from);
    return BOTH(f8, (f4)vshll_n_u16(vget_low_u16(all), 16), (f4)vshll_n_u16(vget_high_u16(all), 16));
}

INLINE f8 fp16_to_fp32(const uint16_t *from) {
    const float16x8_t all = vreinterpretq_f16_u16(vld1q_u16(from));
    return BOTH(f8, (f4)vcvt_f32_f16(vget_low_f16(all)), (f4)vcvt_f32_f16(vget_high_f16(all)));
}
#else
INLINE f8 int8_to_fp32(const int8_t *from) {
    const f4 low = {from[0], from[1], from[2], from[3]}, high = {from[4], from[5], from[6], from[7]};
    return BOTH(f8, low, high);
}

INLINE f8 bf16_to_fp32(const uint16_t *from) {
    const u4 low = {from[0], from[1], from[2], from[3]}, high = {from[4], from[5], from[6], from[7]};
    return BOTH(f8, (f4)(low << 16), (f4)(high << 16));
}

/* Sign, exponent and fraction move to their places, and the exponent counts from 127 instead of 15. */
INLINE f4 halves4(const uint16_t *from) {
    const u4 bits = {from[0], from[1], from[2], from[3]}, rest = bits & 0x7fff;
    const f4 number = (f4)(rest << 13) * 0x1p112f;
    const u4 infinite = (u4)(rest >= 0x7c00) & 0x7f800000;
    return (f4)((u4)number | infinite | (bits & 0x8000) << 16);
}

INLINE f8 fp16_to_fp32(const uint16_t *from) { return BOTH(f8, halves4(from), halves4(from + 4)); }
#endif

INLINE f8 half8(uint16_t bits) {
    const uint16_t all[8] = {bits, bits, bits, bits, bits, bits, bits, bits};
    return fp16_to_fp32(all);
}

/* Eight of them that are so many bytes apart. */
INLINE f8 halves_apart(const uint8_t *from, int apart) {
    uint16_t own[8];
    for (int i = 0; i < 8; i++) memcpy(own + i, from + i * apart, 2);
    return fp16_to_fp32(own);
}

/* Eight unsigned bytes as numbers, the lowest first. */
INLINE f8 bytes_to_fp32(uint64_t bytes) {
    float own[8];
    for (int i = 0; i < 8; i++) own[i] = (float)(bytes >> 8 * i & 255);
    return read8(own);
}

INLINE u4 bf16_bits(f4 numbers) {
    const u4 bits = (u4)numbers, is_nan = (u4)(numbers != numbers);
    const u4 rounded = bits + ((bits >> 16 & 1) + 0x7fff);
    return ((rounded & ~is_nan) | (is_nan & 0x7fc00000)) >> 16;
}

INLINE void write_bf16(uint16_t *to, f8 v) {
    const u4 low = bf16_bits(v.low), high = bf16_bits(v.high);
    for (int i = 0; i < 4; i++) to[i] = (uint16_t)low[i], to[i + 4] = (uint16_t)high[i];
}

/* Words, and parts of them as numbers. */
INLINE i8 words8(const uint32_t *from) {
    i8 words;
    memcpy(&words, from, sizeof words);
    return words;
}
INLINE i8 and8(i8 words, int32_t mask) { return BOTH(i8, words.low & (uint32_t)mask, words.high & (uint32_t)mask); }
INLINE i8 down8(i8 words, int bits) { return BOTH(i8, words.low >> bits, words.high >> bits); }
INLINE i8 add_words8(i8 a, i8 b) { return BOTH(i8, a.low + b.low, a.high + b.high); }

/* Sixteen signed or unsigned bytes as 16-bit numbers, and the sums of products of two such numbers and the two of another. */
INLINE i8 bytes16(const int8_t *from) {
    int16_t wide[16];
    for (int i = 0; i < 16; i++) wide[i] = from[i];
    return words8((const uint32_t *)wide);
}
INLINE i8 unsigned16(const uint8_t *from) {
    int16_t wide[16];
    for (int i = 0; i < 16; i++) wide[i] = from[i];
    return words8((const uint32_t *)wide);
}
INLINE i8 upper_nibbles8(i8 bytes) { return and8(down8(bytes, 4), 0x000f000f); } /* of unsigned bytes, as they come */
#ifdef __ARM_NEON
INLINE u4 pairwise4(u4 a, u4 b) {
    const int16x8_t left = (int16x8_t)a, right = (int16x8_t)b;
    const int32x4_t low = vmull_s16(vget_low_s16(left), vget_low_s16(right));
    return (u4)vpaddq_s32(low, vmull_s16(vget_high_s16(left), vget_high_s16(right)));
}
#else
INLINE u4 pairwise4(u4 a, u4 b) {
    const i4 left = (i4)a, right = (i4)b;
    return (u4)((left << 16 >> 16) * (right << 16 >> 16) + (left >> 16) * (right >> 16));
}
#endif
INLINE i8 pairwise8(i8 a, i8 b) { return BOTH(i8, pairwise4(a.low, b.low), pairwise4(a.high, b.high)); }
INLINE f8 to_fp32(i8 v) { return BOTH(f8, __builtin_convertvector((i4)v.low, f4), __builtin_convertvector((i4)v.high, f4)); }

/* Number `place` of eight, eight times. */
INLINE f8 spread8(f8 v, int place) { return set8(place < 4 ? v.low[place & 3] : v.high[place & 3]); }
