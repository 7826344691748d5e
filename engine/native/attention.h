/* Attention of a few tokens over the lane, in pieces whose softmaxes are joined afterwards
   (https://arxiv.org/abs/1805.02867). */

#pragma once
#include <math.h>
#include "model.h"
#include "vector.h"

enum { PIECE = 256, SHARING = 3 }; /* keys that a thread takes at a time; heads whose sums fit into its registers */

/* Keys or values of one head and piece: `count` of them, `dim` numbers each, from index `at` on. */
typedef struct {
    const void *numbers;
    size_t at;
    int count, dim, is_bf16;
} Cached;

INLINE int longest(int a, int b) { return a > b ? a : b; }

INLINE int pieces(int keys) { return (keys + PIECE - 1) / PIECE; }

INLINE f8 eight_of(Cached from, int key, int i) {
    return load8(from.numbers, from.at + (size_t)key * from.dim + i, from.is_bf16);
}

/* Query heads that share a KV head, at most SHARING of them: what they read is taken out of memory once. */
typedef struct {
    const float *queries[SHARING];
    float *partials[SHARING]; /* as in `Scratch` */
    int count;
    float scale, softcap; /* of scores; those are not bounded where the last is 0 */
} Sharing;

/* Scores of the `num` keys from `key` on, at most four, for all heads. */
INLINE void score_some(const Sharing *heads, Cached keys, int key, int num, float (*scores)[PIECE]) {
    f8 sums[SHARING][4];
    for (int head = 0; head < heads->count; head++)
        for (int k = 0; k < 4; k++) sums[head][k] = set8(0.0f);
    for (int i = 0; i < keys.dim; i += 8)
#pragma GCC unroll 4
        for (int k = 0; k < num; k++) {
            const f8 own = eight_of(keys, key + k, i);
#pragma GCC unroll 3
            for (int head = 0; head < heads->count; head++)
                sums[head][k] = fma8(read8(heads->queries[head] + i), own, sums[head][k]);
        }
    for (int head = 0; head < heads->count; head++)
        if (num == 4) write4(scores[head] + key, sum8x4(sums[head][0], sums[head][1], sums[head][2], sums[head][3]) * heads->scale);
        else scores[head][key] = sum8(sums[head][0]) * heads->scale;
}

/* Scores of the keys from `key` on, a multiple of four; up to seven numbers behind the last are minus infinity. */
INLINE void score_from(const Sharing *heads, Cached keys, float (*scores)[PIECE], int key) {
    for (; key + 4 <= keys.count; key += 4) score_some(heads, keys, key, 4, scores);
    for (; key < keys.count; key++) score_some(heads, keys, key, 1, scores);
    for (int head = 0; head < heads->count; head++) {
        const int whole = (key + 7) / 8 * 8;
        for (int i = key; i < whole; i++) scores[head][i] = 0.0f;
        for (int i = 0; heads->softcap != 0.0f && i < key; i += 8)
            write8(scores[head] + i, capped8(read8(scores[head] + i), heads->softcap));
        for (int i = key; i < whole; i++) scores[head][i] = -INFINITY;
    }
}

/* Scores become weights; their maximum and sum are noted. */
INLINE void soften(const Sharing *heads, int count, float (*scores)[PIECE]) {
    const int padded_count = (count + 7) / 8 * 8;
    for (int head = 0; head < heads->count; head++) {
        heads->partials[head][0] = highest(scores[head], padded_count);
        heads->partials[head][1] = exponentiate(scores[head], padded_count, heads->partials[head][0]);
    }
}

/* Weighted sums of the numbers `first` to `first + 8 * registers` of all values. */
INLINE void weigh(const Sharing *heads, const float (*weights)[PIECE], Cached values, int first, int registers) {
    f8 sums[SHARING][4];
    for (int head = 0; head < heads->count; head++)
        for (int i = 0; i < registers; i++) sums[head][i] = set8(0.0f);
    for (int key = 0; key < values.count; key++)
#pragma GCC unroll 4
        for (int i = 0; i < registers; i++) {
            const f8 own = eight_of(values, key, first + 8 * i);
#pragma GCC unroll 3
            for (int head = 0; head < heads->count; head++)
                sums[head][i] = fma8(set8(weights[head][key]), own, sums[head][i]);
        }
    for (int head = 0; head < heads->count; head++)
        for (int i = 0; i < registers; i++) write8(heads->partials[head] + 2 + first + 8 * i, sums[head][i]);
}

/* One piece for some heads. */
INLINE void attend_by(const Sharing *heads, Cached keys, Cached values) {
    float scores[SHARING][PIECE];
    if (keys.count < 1) return; /* there is one; the compiler does not know */
    score_from(heads, keys, scores, 0);
    soften(heads, keys.count, scores);
    int i = 0;
    for (; i + 32 <= values.dim; i += 32) weigh(heads, (const float (*)[PIECE])scores, values, i, 4);
    for (; i < values.dim; i += 8) weigh(heads, (const float (*)[PIECE])scores, values, i, 1);
}

/* Each number type and number of heads is compiled by itself. */
#define FOR_COUNT(number, ...)                                                                                             \
    case number: {                                                                                                         \
        Sharing own = *heads;                                                                                              \
        own.count = number;                                                                                                \
        if (keys.is_bf16) {                                                                                                \
            keys.is_bf16 = values.is_bf16 = 1;                                                                             \
            __VA_ARGS__;                                                                                                   \
        } else {                                                                                                           \
            keys.is_bf16 = values.is_bf16 = 0;                                                                             \
            __VA_ARGS__;                                                                                                   \
        }                                                                                                                  \
        break;                                                                                                             \
    }
#define FOR_EACH_COUNT(...)                                                                                                \
    switch (heads->count) { FOR_COUNT(1, __VA_ARGS__) FOR_COUNT(2, __VA_ARGS__) FOR_COUNT(3, __VA_ARGS__) }

static void attend_together(const Sharing *heads, Cached keys, Cached values) {
    FOR_EACH_COUNT(attend_by(&own, keys, values))
}

#ifdef __AVX2__
/* The same with 16 numbers at a time: two keys side by side, and twice as many numbers of a value. Every sum is made in the
   order in which eight at a time make it. */

/* Keys in fp32, two and two: eight numbers of one, the same eight of the next, and so on. */
static void pair_up(Cached keys, float *pairs) {
    for (int key = 0; key < keys.count; key++)
        for (int i = 0; i < keys.dim; i += 8)
            write8(pairs + ((size_t)(key / 2) * keys.dim + i) * 2 + key % 2 * 8, eight_of(keys, key, i));
}

/* Scores of the keys of `num` pairs, two or four, from `key` on. */
WIDE INLINE void score_pairs(const Sharing *heads, const float *pairs, int dim, int key, int num, float (*scores)[PIECE]) {
    __m512 sums[SHARING][4];
    for (int head = 0; head < heads->count; head++)
        for (int p = 0; p < num; p++) sums[head][p] = _mm512_setzero_ps();
    for (int i = 0; i < dim; i += 8)
#pragma GCC unroll 4
        for (int p = 0; p < num; p++) {
            const __m512 own = _mm512_loadu_ps(pairs + ((size_t)(key / 2 + p) * dim + i) * 2);
#pragma GCC unroll 3
            for (int head = 0; head < heads->count; head++)
                sums[head][p] = _mm512_fmadd_ps(eight_twice(heads->queries[head] + i), own, sums[head][p]);
        }
    for (int head = 0; head < heads->count; head++)
        for (int p = 0; p < num; p += 2)
            write4(scores[head] + key + 2 * p,
                   sum8x4(_mm512_castps512_ps256(sums[head][p]), upper(sums[head][p]),
                          _mm512_castps512_ps256(sums[head][p + 1]), upper(sums[head][p + 1])) * heads->scale);
}

WIDE INLINE int score_all_pairs(const Sharing *heads, const float *pairs, Cached keys, float (*scores)[PIECE]) {
    int key = 0;
    for (; key + 8 <= keys.count; key += 8) score_pairs(heads, pairs, keys.dim, key, 4, scores);
    for (; key + 4 <= keys.count; key += 4) score_pairs(heads, pairs, keys.dim, key, 2, scores);
    return key;
}

WIDE INLINE __m512 sixteen_of(Cached from, int key, int i) {
    const size_t at = from.at + (size_t)key * from.dim + i;
    if (!from.is_bf16) return _mm512_loadu_ps((const float *)from.numbers + at);
    const __m256i halves = _mm256_loadu_si256((const __m256i *)((const uint16_t *)from.numbers + at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/* Weighted sums of the numbers `first` to `first + 16 * registers` of all values. */
WIDE INLINE void weigh_wide(const Sharing *heads, const float (*weights)[PIECE], Cached values, int first, int registers) {
    __m512 sums[SHARING][4];
    for (int head = 0; head < heads->count; head++)
        for (int i = 0; i < registers; i++) sums[head][i] = _mm512_setzero_ps();
    for (int key = 0; key < values.count; key++)
#pragma GCC unroll 4
        for (int i = 0; i < registers; i++) {
            const __m512 own = sixteen_of(values, key, first + 16 * i);
#pragma GCC unroll 3
            for (int head = 0; head < heads->count; head++)
                sums[head][i] = _mm512_fmadd_ps(_mm512_set1_ps(weights[head][key]), own, sums[head][i]);
        }
    for (int head = 0; head < heads->count; head++)
        for (int i = 0; i < registers; i++) _mm512_storeu_ps(heads->partials[head] + 2 + first + 16 * i, sums[head][i]);
}

/* One piece for some heads, whose keys are in `pairs` too, or where that is null not. */
WIDE INLINE void attend_wide_by(const Sharing *heads, const float *pairs, Cached keys, Cached values) {
    float scores[SHARING][PIECE];
    if (keys.count < 1) return;
    score_from(heads, keys, scores, pairs ? score_all_pairs(heads, pairs, keys, scores) : 0);
    soften(heads, keys.count, scores);
    int i = 0;
    for (; i + 64 <= values.dim; i += 64) weigh_wide(heads, (const float (*)[PIECE])scores, values, i, 4);
    for (; i + 16 <= values.dim; i += 16) weigh_wide(heads, (const float (*)[PIECE])scores, values, i, 1);
    for (; i < values.dim; i += 8) weigh(heads, (const float (*)[PIECE])scores, values, i, 1);
}

WIDE static void attend_wide(const Sharing *heads, const float *pairs, Cached keys, Cached values) {
    FOR_EACH_COUNT(if (pairs) attend_wide_by(&own, pairs, keys, values); else attend_wide_by(&own, 0, keys, values))
}
#endif

/* The query heads of one token that share a KV head, over one piece of its keys, which are in `pairs` too where that is
   not null. */
static void attend_to_piece(const Model *model, int kv_head, int piece, int seen, float scale, Cached keys, Cached values,
                            const float *pairs, const Scratch *s) {
    const int num = pieces(seen), dim = model->dim, group = model->heads / model->kv_heads;
    for (int start = 0; start < group; start += SHARING) {
        Sharing heads = {.count = group - start < SHARING ? group - start : SHARING, .scale = scale, .softcap = model->softcap};
        for (int i = 0; i < heads.count; i++) {
            const int head = kv_head * group + start + i;
            heads.queries[i] = s->fused + head * dim;
            heads.partials[i] = s->partial + ((size_t)head * num + piece) * (dim + 2);
        }
#ifdef __AVX2__
        if (is_wide) {
            attend_wide(&heads, pairs, keys, values);
            continue;
        }
#endif
        attend_together(&heads, keys, values);
    }
}

/* Some of the keys or values. */
INLINE Cached part_of(Cached all, int first, int count) {
    all.at += (size_t)first * all.dim;
    all.count = count;
    return all;
}

/* The keys of a piece in pairs, where several tokens look at them and 16 numbers are taken at a time; else null. */
static const float *paired(Cached keys, int tokens, const Scratch *s) {
#ifdef __AVX2__
    if (is_wide && tokens > 1) {
        pair_up(keys, s->pairs);
        return s->pairs;
    }
#endif
    return 0;
}

/* The first key that a token sees which has `end` of them up to itself. */
INLINE int first_key(int end, int window) { return window && window < end ? end - window : 0; }

/* All query heads over the keys that a token sees, a KV head and one piece of them at a time; pieces lie at the same
   places for every token. By all threads. */
static void attend_in_pieces(const Model *model, int layer, const Tokens *tokens, const Scratch *s) {
    const int window = model->layers[layer].window, begin = first_key(tokens->position + 1, window) / PIECE;
    const int num = pieces(tokens->position + tokens->count) - begin;
#pragma omp for schedule(dynamic, 1)
    for (int unit = 0; unit < model->kv_heads * num; unit++) {
        const int kv_head = unit / num, piece = begin + unit % num, first = piece * PIECE;
        const int last = tokens->position + tokens->count;
        Cached keys = {tokens->keys, slot(model, tokens, layer, kv_head, first), last < first + PIECE ? last - first : PIECE,
                       model->dim, model->is_bf16};
        Cached values = keys;
        values.numbers = tokens->values;
        const float *pairs = paired(keys, tokens->count, s);
        for (int t = 0; t < tokens->count; t++) {
            const int end = tokens->position + t + 1;
            const int from = longest(first_key(end, window), first), to = end < first + PIECE ? end : first + PIECE;
            if (from >= to) continue;
            attend_to_piece(model, kv_head, piece, end, tokens->scales[t], part_of(keys, from - first, to - from),
                            part_of(values, from - first, to - from), from == first ? pairs : 0, s + t);
        }
    }
}

/* Join the pieces of each head of a token that sees the keys before `seen`. Each thread for itself. */
static void join_pieces(const Model *model, int window, int seen, const Scratch *s) {
    const int begin = first_key(seen, window) / PIECE, all = pieces(seen), num = all - begin, dim = model->dim;
    for (int head = 0; head < model->heads; head++) {
        const float *partial = s->partial + ((size_t)head * all + begin) * (dim + 2);
        float *out = s->joined + head * dim, most = partial[0], sum = 0;
        for (int piece = 1; piece < num; piece++) most = fmaxf(most, partial[(size_t)piece * (dim + 2)]);
        memset(out, 0, sizeof(float) * dim);
        for (int piece = 0; piece < num; piece++, partial += dim + 2) {
            const float weight = expf(partial[0] - most);
            sum += weight * partial[1];
            for (int i = 0; i < dim; i++) out[i] += weight * partial[2 + i];
        }
        for (int i = 0; i < dim; i++) out[i] /= sum;
    }
}
