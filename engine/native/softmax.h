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

enum { SIXTEENS = KEYS / 16 };

/* The scores of a block, minus infinity where a key does not count; returns whether any does. */
WIDE INLINE int scores_of(Rule rule, float *products, __m512 scores[SIXTEENS]) {
    if (rule.softcap != 0.0f) make_scores(rule, products);
    const __m512 scale = _mm512_set1_ps(rule.softcap != 0.0f ? 1.0f : rule.scale);
    for (int i = 0; i < SIXTEENS; i++) {
        scores[i] = _mm512_mul_ps(_mm512_loadu_ps(products + 16 * i), scale);
        __asm__("" : "+v"(scores[i])); /* rounded here, in whatever it is added to */
    }
    if (rule.count >= KEYS && !rule.seen) return 1;
    int any = 0;
    for (int i = 0; i < SIXTEENS; i++) {
        const int left = rule.count - 16 * i;
        __mmask16 counts = left >= 16 ? 0xffff : left > 0 ? (1 << left) - 1 : 0;
        for (int key = 0; rule.seen && key < 16 && key < left; key++)
            if (!rule.seen[16 * i + key]) counts &= ~(1 << key);
        scores[i] = _mm512_mask_mov_ps(_mm512_set1_ps(-INFINITY), counts, scores[i]);
        any |= counts;
    }
    return any;
}

/* As `weigh_eights`, sixteen at a time, with the weights in registers. */
WIDE INLINE float weigh_sixteens(Rule rule, float *products, float *highest, float *total, __m512 weights[SIXTEENS]) {
    if (!scores_of(rule, products, weights)) {
        for (int i = 0; i < SIXTEENS; i++) weights[i] = _mm512_setzero_ps();
        return 1.0f;
    }
    __m512 most = _mm512_set1_ps(*highest), sum = _mm512_setzero_ps();
    for (int i = 0; i < SIXTEENS; i++) most = _mm512_max_ps(most, weights[i]);
    const float new_highest = _mm512_reduce_max_ps(most), kept = *highest == new_highest ? 1.0f : expf(*highest - new_highest);
    for (int i = 0; i < SIXTEENS; i++) {
        const __m512 x = _mm512_sub_ps(weights[i], _mm512_set1_ps(new_highest));
        const __mmask16 keeps = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.0f), _CMP_NLT_UQ);
        weights[i] = _mm512_maskz_mov_ps(keeps, exp16(x));
        sum = _mm512_add_ps(sum, weights[i]);
    }
    *total = *total * kept + _mm512_reduce_add_ps(sum);
    *highest = new_highest;
    return kept;
}

WIDE static float weigh_avx512(Rule rule, float *products, float *highest, float *total, float *weights) {
    __m512 own[SIXTEENS];
    const float kept = weigh_sixteens(rule, products, highest, total, own);
    for (int i = 0; i < SIXTEENS; i++) _mm512_storeu_ps(weights + 16 * i, own[i]);
    return kept;
}

/* The same with weights in bf16. None is so small that the instruction takes it for zero. */
ROUNDING static float weigh_rounding(Rule rule, float *products, float *highest, float *total, uint16_t *weights) {
    __m512 own[SIXTEENS];
    const float kept = weigh_sixteens(rule, products, highest, total, own);
    for (int i = 0; i < SIXTEENS; i += 2) _mm512_storeu_si512(weights + 16 * i, rounded(own[i], own[i + 1]));
    return kept;
}
#endif
