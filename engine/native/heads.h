/* Norms, and what happens to queries, keys and values between their product and attention. Widths are multiples of
   8. */

#pragma once
#include <math.h>
#include "model.h"
#include "vector.h"

/* Root-mean-square norm (https://arxiv.org/abs/1910.07467) of `n` numbers. */
INLINE void normalise(const void *from, const float *weight, int n, float epsilon, void *to, int is_bf16) {
    f8 squares = set8(0.0f);
    for (int i = 0; i < n; i += 8) {
        const f8 own = load8(from, i, is_bf16);
        squares = fma8(own, own, squares);
    }
    const f8 factor = set8(1.0f / sqrtf(sum8(squares) / n + epsilon));
    for (int i = 0; i < n; i += 8) {
        const f8 scaled = mul8(load8(from, i, is_bf16), factor);
        store8(to, i, is_bf16, mul8(scaled, read8(weight + i)));
    }
}

/* Rotary position code of `turned` numbers, halves paired as in Llama. `cos` and `sin` are as many. */
INLINE void rotate(float *head, const float *cos, const float *sin, int turned) {
    for (int i = 0; i < turned / 2; i++) {
        const float a = head[i], b = head[i + turned / 2];
        head[i] = a * cos[i] - b * sin[i];
        head[i + turned / 2] = b * cos[i + turned / 2] + a * sin[i + turned / 2];
    }
}

/* One head of a token's product, `own`: norm and rotation of a query or key, in place; a key or value goes into the
   lane. Heads are counted as they lie: queries, keys, values. */
static void place_head(const Heads *h, int head, float *own, int position, const float *cos, const float *sin) {
    const int is_query = head < h->heads, is_value = head >= h->heads + h->kv_heads;
    const float *norm = is_query ? h->query_norm : h->key_norm;
    if (!is_value) {
        if (norm) normalise(own, norm, h->dim, h->epsilon, own, 0);
        rotate(own, cos, sin, h->turned);
    }
    if (is_query) return;
    const int kv_head = (head - h->heads) % h->kv_heads;
    const size_t at = ((size_t)kv_head * h->capacity + position) * h->dim;
    for (int i = 0; i < h->dim; i += 8)
        store8(is_value ? h->values : h->keys, at + i, h->is_bf16, read8(own + i));
}
