/* Norms, and what happens to queries, keys and values between their product and attention. Widths are multiples of 8. */

#pragma once
#include <math.h>
#include "vector.h"

/* Root-mean-square norm (https://arxiv.org/abs/1910.07467) of `n` numbers. */
INLINE void normalise(const void *from, const float *weight, int n, float epsilon, void *to, int is_bf16) {
    __m256 squares = _mm256_setzero_ps();
    for (int i = 0; i < n; i += 8) {
        const __m256 own = load8(from, i, is_bf16);
        squares = _mm256_fmadd_ps(own, own, squares);
    }
    const __m256 factor = _mm256_set1_ps(1.0f / sqrtf(sum8(squares) / n + epsilon));
    for (int i = 0; i < n; i += 8) {
        const __m256 scaled = _mm256_mul_ps(load8(from, i, is_bf16), factor);
        store8(to, i, is_bf16, _mm256_mul_ps(scaled, _mm256_loadu_ps(weight + i)));
    }
}

/* Where the keys and values of one layer go, `[kv_head, capacity, dim]`, and the norms of its heads `[dim]` or null. */
typedef struct {
    void *keys, *values;
    const float *query_norm, *key_norm;
    int32_t heads, kv_heads, dim, capacity, is_bf16;
    float epsilon;
} Heads;

/* Rotary position code, halves paired as in Llama. `cos` and `sin` are `[dim]`. */
INLINE void rotate(float *head, const float *cos, const float *sin, int dim) {
    for (int i = 0; i < dim / 2; i++) {
        const float a = head[i], b = head[i + dim / 2];
        head[i] = a * cos[i] - b * sin[i];
        head[i + dim / 2] = b * cos[i + dim / 2] + a * sin[i + dim / 2];
    }
}

INLINE void write_to_lane(const Heads *h, const float *from, int position, void *lane) {
    for (int head = 0; head < h->kv_heads; head++)
        for (int i = 0; i < h->dim; i += 8) {
            const size_t at = ((size_t)head * h->capacity + position) * h->dim + i;
            store8(lane, at, h->is_bf16, _mm256_loadu_ps(from + head * h->dim + i));
        }
}

/* Norms and rotation of one token's queries and keys `fused`, in place; key and value go into the lane. */
static void place(const Heads *h, float *fused, int position, const float *cos, const float *sin) {
    for (int head = 0; head < h->heads + h->kv_heads; head++) {
        float *own = fused + head * h->dim;
        const float *norm = head < h->heads ? h->query_norm : h->key_norm;
        if (norm) normalise(own, norm, h->dim, h->epsilon, own, 0);
        rotate(own, cos, sin, h->dim);
    }
    write_to_lane(h, fused + h->heads * h->dim, position, h->keys);
    write_to_lane(h, fused + (h->heads + h->kv_heads) * h->dim, position, h->values);
}
