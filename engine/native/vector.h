/* Eight numbers at a time: sums, number types, the exponential. */

#pragma once
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE float sum8(__m256 v) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE float max8(__m256 v) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/* The sums of four vectors. */
INLINE __m128 sum8x4(__m256 a, __m256 b, __m256 c, __m256 d) {
    __m256 both = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
}

INLINE __m256 int8_to_fp32(const int8_t *from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)from)));
}

INLINE __m256 bf16_to_fp32(const uint16_t *from) {
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

/* One bf16 number. */
INLINE float wide(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float number;
    memcpy(&number, &bits, 4);
    return number;
}

/* Eight numbers of either type, by index. bf16 is rounded to the nearest, halves to even; NaN stays NaN. */
INLINE __m256 load8(const void *from, size_t at, int is_bf16) {
    return is_bf16 ? bf16_to_fp32((const uint16_t *)from + at) : _mm256_loadu_ps((const float *)from + at);
}

INLINE void store8(void *to, size_t at, int is_bf16, __m256 numbers) {
    if (!is_bf16) {
        _mm256_storeu_ps((float *)to + at, numbers);
        return;
    }
    __m256i bits = _mm256_castps_si256(numbers);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q));
    rounded = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc00000), is_nan);
    __m256i pairs = _mm256_packus_epi32(_mm256_srli_epi32(rounded, 16), _mm256_setzero_si256());
    __m256i four = _mm256_permute4x64_epi64(pairs, 0xd8);
    _mm_storeu_si128((__m128i *)((uint16_t *)to + at), _mm256_castsi256_si128(four));
}

/* e ** x: 2 ** n times the Taylor series on what is left, at most ln(2) / 2; error about 1e-7. NaN stays NaN. */
INLINE __m256 exp8(__m256 x) {
    x = _mm256_max_ps(_mm256_set1_ps(-87.0f), _mm256_min_ps(_mm256_set1_ps(88.0f), x));
    __m256 n = _mm256_mul_ps(x, _mm256_set1_ps(1.44269504f));
    n = _mm256_round_ps(n, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 rest = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x); /* ln(2) in two parts */
    rest = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), rest);
    const float terms[] = {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    __m256 sum = _mm256_set1_ps(1.0f / 720);
    for (int i = 0; i < 6; i++) sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(terms[i]));
    __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(sum, _mm256_castsi256_ps(power));
}

/* x / (1 + exp(-x)) */
INLINE __m256 silu8(__m256 x) {
    const __m256 power = exp8(_mm256_sub_ps(_mm256_setzero_ps(), x));
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), power));
}

/* exp(score - most) of `count` scores in place, a multiple of eight; returns their sum. NaN stays NaN, and so no
   maximum needs to know of it. */
INLINE float exponentiate(float *scores, int count, float most) {
    __m256 sum = _mm256_setzero_ps();
    for (int key = 0; key < count; key += 8) {
        const __m256 weight = exp8(_mm256_sub_ps(_mm256_loadu_ps(scores + key), _mm256_set1_ps(most)));
        _mm256_storeu_ps(scores + key, weight);
        sum = _mm256_add_ps(sum, weight);
    }
    return sum8(sum);
}

/* The highest of `count` scores, a multiple of eight. */
INLINE float highest(const float *scores, int count) {
    __m256 most = _mm256_loadu_ps(scores);
    for (int key = 8; key < count; key += 8) most = _mm256_max_ps(most, _mm256_loadu_ps(scores + key));
    return max8(most);
}
