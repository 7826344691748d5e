/* What a forward pass of many tokens does between its products, one pass over memory each, where torch takes five to
   ten. Numbers are fp32 or bf16, computed in fp32. By all threads, a row each. */

#include "heads.h"

/* `hidden += added` (where that is not null), then `normed` is its norm. All are `[rows, width]`. */
EXPORT void FORM(headstart_normalise)(void *hidden, const void *added, const float *weight, void *normed, int32_t rows,
                                int32_t width, float epsilon, int32_t is_bf16) {
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        const size_t at = (size_t)row * width, bytes = at * (is_bf16 ? 2 : 4);
        for (int i = 0; added && i < width; i += 8)
            store8(hidden, at + i, is_bf16,
                   add8(load8(hidden, at + i, is_bf16), load8(added, at + i, is_bf16)));
        normalise((char *)hidden + bytes, weight, width, epsilon, (char *)normed + bytes, is_bf16);
    }
}

/* Rows of `fused` are queries, keys and values of tokens from `start` on. Their queries are made ready in place, keys
   and values go into the lane. `cos` and `sin` are `[rows, dim]`. */
EXPORT void FORM(headstart_place)(const Heads *heads, void *fused, const float *cos, const float *sin, int32_t rows,
                            int32_t start) {
    const int dim = heads->dim, num = heads->heads + 2 * heads->kv_heads;
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        for (int head = 0; head < num; head++) {
            const size_t at = ((size_t)row * num + head) * dim;
            float own[WIDEST_HEAD];
            for (int i = 0; i < dim; i += 8) write8(own + i, load8(fused, at + i, heads->is_bf16));
            place_head(heads, head, own, start + row, cos + (size_t)row * dim, sin + (size_t)row * dim);
            if (head < heads->heads)
                for (int i = 0; i < dim; i += 8) store8(fused, at + i, heads->is_bf16, read8(own + i));
        }
}

/* `out[row] = silu(gate) * up`; a row of `gate_up` is `[gate, up]`, each `inner` wide. */
EXPORT void FORM(headstart_gate)(const void *gate_up, void *out, int32_t rows, int32_t inner, int32_t is_bf16) {
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < inner; i += 8) {
            const size_t at = (size_t)row * 2 * inner + i;
            const f8 gate = load8(gate_up, at, is_bf16), up = load8(gate_up, at + inner, is_bf16);
            store8(out, (size_t)row * inner + i, is_bf16, mul8(silu8(gate), up));
        }
}
