/* `vector.h` for x86-64 with AVX2, FMA and F16C. */

#pragma once
#include <immintrin.h>

/* Functions that compute with 512 bits: whoever calls them has asked the processor. */
#define WIDE __attribute__((target("avx512f,avx512bw")))

/* Whether 16 numbers are taken at a time where that is written, and whether an instruction rounds them to bf16. Python sets it
   before it calls anything. */
enum { NARROW, IS_WIDE, ROUNDS };
static int32_t is_wide;

#if __GNUC__ < 11
#define ROUNDING WIDE /* it knows no such instruction */
ROUNDING INLINE __m512i rounded(__m512 low, __m512 high) { return _mm512_setzero_si512(); }
INLINE int can_round(void) { return 0; }
#else
#define ROUNDING __attribute__((target("avx512f,avx512bw,avx512bf16")))
ROUNDING INLINE __m512i rounded(__m512 low, __m512 high) { return (__m512i)_mm512_cvtne2ps_pbh(high, low); }
INLINE int can_round(void) { return __builtin_cpu_supports("avx512bf16"); }
#endif

typedef __m256 f8;
typedef __m256i i8;

WIDE INLINE __m512 eight_twice(const float *from) {
    return _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_loadu_pd((const double *)from)));
}

WIDE INLINE __m256 upper(__m512 both) { return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(both), 1)); }

INLINE f8 set8(float number) { return _mm256_set1_ps(number); }
INLINE f8 read8(const float *from) { return _mm256_loadu_ps(from); }
INLINE void write8(float *to, f8 numbers) { _mm256_storeu_ps(to, numbers); }
INLINE f8 add8(f8 a, f8 b) { return _mm256_add_ps(a, b); }
INLINE f8 sub8(f8 a, f8 b) { return _mm256_sub_ps(a, b); }
INLINE f8 mul8(f8 a, f8 b) { return _mm256_mul_ps(a, b); }
INLINE f8 div8(f8 a, f8 b) { return _mm256_div_ps(a, b); }

/* a b + c, and c - a b */
INLINE f8 fma8(f8 a, f8 b, f8 c) { return _mm256_fmadd_ps(a, b, c); }
INLINE f8 less8(f8 a, f8 b, f8 c) { return _mm256_fnmadd_ps(a, b, c); }

/* The higher or lower number of each pair; where one is NaN, that of `b`. */
INLINE f8 higher8(f8 a, f8 b) { return _mm256_max_ps(a, b); }
INLINE f8 lower8(f8 a, f8 b) { return _mm256_min_ps(a, b); }

INLINE f8 round8(f8 numbers) { return _mm256_round_ps(numbers, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

/* 0 where x is below `limit`, else the number; NaN is not below. */
INLINE f8 unless_below8(f8 numbers, f8 x, float limit) {
    return _mm256_and_ps(numbers, _mm256_cmp_ps(x, _mm256_set1_ps(limit), _CMP_NLT_UQ));
}

/* numbers * 2 ** n, for whole n */
INLINE f8 times_power8(f8 numbers, f8 n) {
    const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(numbers, _mm256_castsi256_ps(power));
}

INLINE float sum8(f8 v) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE float max8(f8 v) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/* The sums of four vectors. */
INLINE f4 sum8x4(f8 a, f8 b, f8 c, f8 d) {
    __m256 both = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
}

INLINE f8 int8_to_fp32(const int8_t *from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)from)));
}

INLINE f8 bf16_to_fp32(const uint16_t *from) {
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

INLINE void write_bf16(uint16_t *to, f8 numbers) {
    __m256i bits = _mm256_castps_si256(numbers);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q));
    rounded = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc00000), is_nan);
    __m256i pairs = _mm256_packus_epi32(_mm256_srli_epi32(rounded, 16), _mm256_setzero_si256());
    __m256i four = _mm256_permute4x64_epi64(pairs, 0xd8);
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(four));
}

/* fp16 numbers: eight of them, and one eight times. */
INLINE f8 fp16_to_fp32(const uint16_t *from) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from)); }
INLINE f8 half8(uint16_t bits) { return _mm256_cvtph_ps(_mm_set1_epi16((short)bits)); }

/* Eight of them that are so many bytes apart. */
INLINE uint64_t four_apart(const uint8_t *from, int apart) {
    uint16_t own[4];
    for (int i = 0; i < 4; i++) memcpy(own + i, from + i * apart, 2);
    return own[0] | (uint32_t)own[1] << 16 | (uint64_t)(own[2] | (uint32_t)own[3] << 16) << 32;
}

INLINE f8 halves_apart(const uint8_t *from, int apart) {
    return _mm256_cvtph_ps(_mm_set_epi64x((int64_t)four_apart(from + 4 * apart, apart), (int64_t)four_apart(from, apart)));
}

/* Eight unsigned bytes as numbers, the lowest first. */
INLINE f8 bytes_to_fp32(uint64_t bytes) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)bytes)));
}

/* Words, and parts of them as numbers. */
INLINE i8 words8(const uint32_t *from) { return _mm256_loadu_si256((const __m256i *)from); }
INLINE i8 and8(i8 words, int32_t mask) { return _mm256_and_si256(words, _mm256_set1_epi32(mask)); }
INLINE i8 down8(i8 words, int bits) { return _mm256_srli_epi32(words, bits); }
INLINE i8 add_words8(i8 a, i8 b) { return _mm256_add_epi32(a, b); }

/* Sixteen signed or unsigned bytes as 16-bit numbers, and the sums of products of two such numbers and the two of another. */
INLINE i8 bytes16(const int8_t *from) { return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)from)); }
INLINE i8 unsigned16(const uint8_t *from) { return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from)); }
INLINE i8 upper_nibbles8(i8 bytes) { return _mm256_srli_epi16(bytes, 4); } /* of unsigned bytes, as they come */
INLINE i8 pairwise8(i8 a, i8 b) { return _mm256_madd_epi16(a, b); }
INLINE f8 to_fp32(i8 words) { return _mm256_cvtepi32_ps(words); }

/* Number `place` of eight, eight times. */
INLINE f8 spread8(f8 numbers, int place) { return _mm256_permutevar8x32_ps(numbers, _mm256_set1_epi32(place)); }
