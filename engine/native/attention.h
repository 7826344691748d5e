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

/* Scores of all keys; up to seven numbers behind the last are minus infinity. */
INLINE void score(const Sharing *heads, Cached keys, float (*scores)[PIECE]) {
    int key = 0;
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
    const int padded_count = (keys.count + 7) / 8 * 8;
    score(heads, keys, scores);
    for (int head = 0; head < heads->count; head++) {
        heads->partials[head][0] = highest(scores[head], padded_count);
        heads->partials[head][1] = exponentiate(scores[head], padded_count, heads->partials[head][0]);
    }
    int i = 0;
    for (; i + 32 <= values.dim; i += 32) weigh(heads, (const float (*)[PIECE])scores, values, i, 4);
    for (; i < values.dim; i += 8) weigh(heads, (const float (*)[PIECE])scores, values, i, 1);
}

/* Each number type and number of heads is compiled by itself. */
static void attend_together(const Sharing *heads, Cached keys, Cached values) {
#define FOR_COUNT(number)                                                                                                  \
    case number: {                                                                                                         \
        Sharing own = *heads;                                                                                              \
        own.count = number;                                                                                                \
        if (!keys.is_bf16) attend_by(&own, keys, values);                                                                  \
        else {                                                                                                             \
            keys.is_bf16 = values.is_bf16 = 1;                                                                             \
            attend_by(&own, keys, values);                                                                                 \
        }                                                                                                                  \
        break;                                                                                                             \
    }
    switch (heads->count) {
        FOR_COUNT(1)
        FOR_COUNT(2)
        FOR_COUNT(3)
    }
#undef FOR_COUNT
}

/* The query heads of one token that share a KV head, over one piece of its keys. */
static void attend_to_piece(const Model *model, int kv_head, int piece, int seen, float scale, Cached keys, Cached values,
                            const Scratch *s) {
    const int num = pieces(seen), dim = model->dim, group = model->heads / model->kv_heads;
    for (int start = 0; start < group; start += SHARING) {
        Sharing heads = {.count = group - start < SHARING ? group - start : SHARING, .scale = scale, .softcap = model->softcap};
        for (int i = 0; i < heads.count; i++) {
            const int head = kv_head * group + start + i;
            heads.queries[i] = s->fused + head * dim;
            heads.partials[i] = s->partial + ((size_t)head * num + piece) * (dim + 2);
        }
        attend_together(&heads, keys, values);
    }
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
        const int kv_head = unit / num, piece = begin + unit % num;
        for (int t = 0; t < tokens->count; t++) {
            const int end = tokens->position + t + 1, least = first_key(end, window);
            const int from = longest(least, piece * PIECE), to = end < (piece + 1) * PIECE ? end : (piece + 1) * PIECE;
            if (from >= to) continue;
            Cached keys = {tokens->keys, slot(model, tokens, layer, kv_head, from), to - from, model->dim, model->is_bf16};
            Cached values = keys;
            values.numbers = tokens->values;
            attend_to_piece(model, kv_head, piece, end, tokens->scales[t], keys, values, s + t);
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
