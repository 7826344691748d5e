/* The softmax over the keys of a block, for one token, joined with what the blocks before it gave. */

#pragma once
#include <math.h>
#include "vector.h"

enum { KEYS = 128 }; /* keys of a block */

/* Which keys of a block count, and how scores are made of products. `seen` says it key by key, or is null: then the
   first `count` do. None behind these does in either case. `softcap` bounds the scores where it is not 0. */
typedef struct {
    const uint8_t *seen;
    int count;
    float scale, softcap;
} Rule;

INLINE void store1(void *to, size_t at, int is_bf16, float number) {
    float eight[8] = {number};
    uint16_t halves[8];
    if (!is_bf16) {
        ((float *)to)[at] = number;
        return;
    }
    store8(halves, 0, 1, read8(eight));
    ((uint16_t *)to)[at] = halves[0];
}

/* Whether any key counts; where single ones do, the scores of the others become minus infinity. */
INLINE int hide(Rule rule, float *scores) {
    for (int key = rule.count; key < KEYS; key++) scores[key] = -INFINITY;
    if (!rule.seen) return rule.count > 0;
    int any = 0;
    for (int key = 0; key < rule.count; key++) {
        if (rule.seen[key]) any = 1;
        else scores[key] = -INFINITY;
    }
    return any;
}

INLINE void make_scores(Rule rule, float *scores) {
    for (int key = 0; key < KEYS; key += 8) {
        f8 own = mul8(read8(scores + key), set8(rule.scale));
        if (rule.softcap != 0.0f) own = capped8(own, rule.softcap);
        write8(scores + key, own);
    }
}

/* e ** (score - most), exactly 0 where that is too small for fp32: a key that does not count must not count a little. */
INLINE f8 weight8(f8 score, f8 most) {
    const f8 x = sub8(score, most);
    return unless_below8(exp8(x), x, -87.0f);
}

/* Turn products into weights. `highest` and `total` are those of the blocks before, and become those with this one.
   Returns by how much what came before must be multiplied. */
static float weigh_eights(Rule rule, float *scores, float *highest, float *total, float *weights) {
    make_scores(rule, scores);
    if (!hide(rule, scores)) {
        memset(weights, 0, sizeof(float) * KEYS);
        return 1.0f;
    }
    f8 most = set8(*highest), sum = set8(0.0f);
    for (int key = 0; key < KEYS; key += 8) most = higher8(most, read8(scores + key));
    const float new_highest = max8(most), kept = *highest == new_highest ? 1.0f : expf(*highest - new_highest);
    for (int key = 0; key < KEYS; key += 8) {
        const f8 own = weight8(read8(scores + key), set8(new_highest));
        write8(weights + key, own);
        sum = add8(sum, own);
    }
    *total = *total * kept + sum8(sum);
    *highest = new_highest;
    return kept;
}

#ifdef __AVX2__
/* As `exp8` in vector.h, for sixteen. */
WIDE static inline __m512 exp16(__m512 x) {
    x = _mm512_max_ps(_mm512_set1_ps(-87.0f), _mm512_min_ps(_mm512_set1_ps(88.0f), x));
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 rest = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
    rest = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), rest);
    __m512 sum = _mm512_set1_ps(1.0f / 720);
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f / 120));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f / 24));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f / 6));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(0.5f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(sum, n);
}

/* As `weigh_eights`, sixteen at a time; weights in bf16 where `is_bf16`. */
WIDE static float weigh_avx512(Rule rule, float *scores, float *highest, float *total, void *weights, int is_bf16) {
    const __m512 scale = _mm512_set1_ps(rule.scale);
    if (rule.softcap != 0.0f) make_scores(rule, scores);
    else
        for (int key = 0; key < KEYS; key += 16)
            _mm512_storeu_ps(scores + key, _mm512_mul_ps(_mm512_loadu_ps(scores + key), scale));
    if (!hide(rule, scores)) {
        memset(weights, 0, (is_bf16 ? 2 : 4) * KEYS);
        return 1.0f;
    }
    __m512 most = _mm512_set1_ps(*highest), sum = _mm512_setzero_ps();
    for (int key = 0; key < KEYS; key += 16) most = _mm512_max_ps(most, _mm512_loadu_ps(scores + key));
    const float new_highest = _mm512_reduce_max_ps(most), kept = *highest == new_highest ? 1.0f : expf(*highest - new_highest);
    for (int key = 0; key < KEYS; key += 16) {
        const __m512 x = _mm512_sub_ps(_mm512_loadu_ps(scores + key), _mm512_set1_ps(new_highest));
        const __mmask16 keeps = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.0f), _CMP_NLT_UQ);
        const __m512 own = _mm512_maskz_mov_ps(keeps, exp16(x));
        sum = _mm512_add_ps(sum, own);
        if (!is_bf16) _mm512_storeu_ps((float *)weights + key, own);
        else {
            __m512i bits = _mm512_castps_si512(own);
            const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
            const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
            const __mmask16 nan = _mm512_cmp_ps_mask(own, own, _CMP_UNORD_Q);
            bits = _mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7fc00000));
            _mm256_storeu_si256((__m256i *)((uint16_t *)weights + key), _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
        }
    }
    *total = *total * kept + _mm512_reduce_add_ps(sum);
    *highest = new_highest;
    return kept;
}
#endif
