/* Attention of one token over the lane, in pieces whose softmaxes are joined afterwards
   (https://arxiv.org/abs/1805.02867). */

#pragma once
#include <math.h>
#include "model.h"
#include "vector.h"

enum { PIECE = 256 }; /* what a thread takes at a time; their scores stay in its cache */

/* Keys or values of one head and piece: `count` of them, `dim` numbers each, from index `at` on. */
typedef struct {
    const void *numbers;
    size_t at;
    int count, dim, is_bf16;
} Cached;

INLINE int pieces(int keys) { return (keys + PIECE - 1) / PIECE; }

INLINE f8 eight_of(Cached from, int key, int i) {
    return load8(from.numbers, from.at + (size_t)key * from.dim + i, from.is_bf16);
}

INLINE float score_one(const float *query, Cached keys, int key) {
    f8 sum = set8(0.0f);
    for (int i = 0; i < keys.dim; i += 8)
        sum = fma8(read8(query + i), eight_of(keys, key, i), sum);
    return sum8(sum);
}

INLINE f4 score_four(const float *query, Cached keys, int key) {
    f8 a = set8(0.0f), b = a, c = a, d = a;
    for (int i = 0; i < keys.dim; i += 8) {
        const f8 own = read8(query + i);
        a = fma8(own, eight_of(keys, key, i), a);
        b = fma8(own, eight_of(keys, key + 1, i), b);
        c = fma8(own, eight_of(keys, key + 2, i), c);
        d = fma8(own, eight_of(keys, key + 3, i), d);
    }
    return sum8x4(a, b, c, d);
}

/* Scores of all keys; up to seven numbers behind the last are minus infinity. */
INLINE void score(const float *query, Cached keys, float *scores) {
    const float scale = 1.0f / sqrtf((float)keys.dim);
    int key = 0;
    for (; key + 4 <= keys.count; key += 4)
        write4(scores + key, score_four(query, keys, key) * scale);
    for (; key < keys.count; key++) scores[key] = score_one(query, keys, key) * scale;
    for (; key % 8; key++) scores[key] = -INFINITY;
}

/* Weighted sum of the numbers `first` to `first + 8 * registers` of all values. */
INLINE void weigh(const float *weights, Cached values, int first, int registers, float *out) {
    f8 sums[8];
    for (int i = 0; i < registers; i++) sums[i] = set8(0.0f);
    for (int key = 0; key < values.count; key++) {
        const f8 weight = set8(*(weights + key));
        for (int i = 0; i < registers; i++)
            sums[i] = fma8(weight, eight_of(values, key, first + 8 * i), sums[i]);
    }
    for (int i = 0; i < registers; i++) write8(out + first + 8 * i, sums[i]);
}

/* One query head and one piece; `partial` as in `Scratch`. */
INLINE void attend(const float *query, Cached keys, Cached values, float *partial) {
    float scores[PIECE];
    const int padded_count = (keys.count + 7) / 8 * 8;
    score(query, keys, scores);
    partial[0] = highest(scores, padded_count);
    partial[1] = exponentiate(scores, padded_count, partial[0]);
    int i = 0;
    for (; i + 64 <= values.dim; i += 64) weigh(scores, values, i, 8, partial + 2);
    for (; i < values.dim; i += 8) weigh(scores, values, i, 1, partial + 2);
}

/* Its own function, so that the number type is known where the loops are compiled. */
INLINE void attend_bf16(const float *query, Cached keys, Cached values, float *partial) {
    keys.is_bf16 = values.is_bf16 = 1;
    attend(query, keys, values, partial);
}

/* All query heads over all keys, a KV head and one piece of its keys at a time. By all threads. */
static void attend_in_pieces(const Model *model, int layer, const Token *token, const Scratch *s) {
    const int count = token->position + 1, num = pieces(count), dim = model->dim;
    const int group = model->heads / model->kv_heads;
#pragma omp for schedule(dynamic, 1)
    for (int unit = 0; unit < model->kv_heads * num; unit++) {
        const int kv_head = unit / num, piece = unit % num, first = piece * PIECE;
        const int own = count - first < PIECE ? count - first : PIECE;
        Cached keys = {token->keys, slot(model, token, layer, kv_head, first), own, dim, 0}, values = keys;
        values.numbers = token->values;
        for (int head = kv_head * group; head < (kv_head + 1) * group; head++) {
            const float *query = s->fused + head * dim;
            float *partial = s->partial + ((size_t)head * num + piece) * (dim + 2);
            if (model->is_bf16) attend_bf16(query, keys, values, partial);
            else attend(query, keys, values, partial);
        }
    }
}

/* Join the pieces of each head. Each thread for itself. */
static void join_pieces(const Model *model, const Token *token, Scratch *s) {
    const int num = pieces(token->position + 1), dim = model->dim;
    for (int head = 0; head < model->heads; head++) {
        const float *partial = s->partial + (size_t)head * num * (dim + 2);
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
