/* The forward pass of one token over few-bit weights: what `engine/llama/compiled_step.py` calls. x86-64 with AVX2 and FMA.

   At one row, torch spends as long on being called as on computing, and its int4 kernel widens every weight from a byte
   of its own. Here a token is one call, and eight weights are taken out of eight words at a time.

   Activations, sums and scores are fp32; every sum is made by one thread in one order, so that the numbers do not hang
   on the number of threads. OpenMP's functions come from the library that torch has loaded: a second team of threads
   would wait for the same processors. */

#include <omp.h>
#include "attention.h"
#include "heads.h"
#include "matrix.h"
#include "model.h"

int32_t headstart_is_wide = 0;

/* Take 16 numbers at a time in products with one row, where that is wanted and this processor can; whether it does. */
EXPORT int32_t headstart_widen_rows(int32_t is_wanted) {
    __builtin_cpu_init();
    return headstart_is_wide = is_wanted && __builtin_cpu_supports("avx512f");
}

/* The heads of one layer: products, norms, rotation, and their places. By all threads, a head each. */
static void multiply_heads(const Model *model, int index, const Token *token, const Scratch *s) {
    const Layer *layer = model->layers + index;
    const size_t at = slot(model, token, index, 0, 0) * (model->is_bf16 ? 2 : 4);
    const Heads heads = {(char *)token->keys + at, (char *)token->values + at, layer->query_norm, layer->key_norm,
                         model->heads, model->kv_heads, model->dim, token->capacity, model->is_bf16, model->epsilon};
#pragma omp for schedule(dynamic, 1)
    for (int head = 0; head < model->heads + 2 * model->kv_heads; head++) {
        float *own = s->fused + head * model->dim;
        rows_times(&layer->qkv, head * model->dim, model->dim, s, own);
        place_head(&heads, head, own, token->position, token->cos, token->sin);
    }
}

INLINE int longest(int a, int b) { return a > b ? a : b; }

typedef struct {
    int most;
    size_t joined, own, acted, partial, end;
} Offsets;

/* Where the parts of the scratch begin, in floats. A thread's own part has `own` of them; behind those of all threads
   come the products of the heads, and what follows them is counted from there. */
static Offsets offsets(const Model *model, int position) {
    Offsets o = {.most = longest(longest(model->width, model->inner), model->heads * model->dim)};
    o.joined = row_scratch(o.most);
    o.own = o.joined + (size_t)model->heads * model->dim;
    o.acted = (size_t)(model->heads + 2 * model->kv_heads) * model->dim;
    o.partial = o.acted + model->inner;
    o.end = o.partial + (size_t)model->heads * pieces(position + 1) * (model->dim + 2);
    return o;
}

/* What Python compares with its own before it calls anything. */
EXPORT const int32_t headstart_layout[] = {VERSION,       sizeof(Matrix), sizeof(Layer),    sizeof(Model),
                                           sizeof(Token), sizeof(Heads),  sizeof(Attention)};

/* Floats of `Token.scratch` that a token at `position` needs. */
EXPORT int64_t headstart_scratch(const Model *model, int32_t position) {
    const Offsets o = offsets(model, position);
    return (int64_t)(o.own * omp_get_max_threads() + o.end);
}

/* logits = model(token), and its keys and values in the lane. Five barriers a layer: where threads share processors
   with others, each may be a wait. */
EXPORT void headstart_step(const Model *model, const Token *token) {
    const Offsets o = offsets(model, token->position);
    float *hidden = token->hidden, *shared = token->scratch + o.own * omp_get_max_threads();
#pragma omp parallel
    {
        float *own = token->scratch + o.own * omp_get_thread_num();
        Scratch all = row_parts(own, o.most), *s = &all;
        s->joined = own + o.joined;
        s->fused = shared, s->acted = shared + o.acted, s->partial = shared + o.partial;
        for (int index = 0; index < model->num_layers; index++) {
            const Layer *layer = model->layers + index;
            normalise(hidden, layer->input_norm, model->width, model->epsilon, s->x, 0);
            prepare(s->x, model->width, s);
            multiply_heads(model, index, token, s);
            attend_in_pieces(model, index, token, s);
            join_pieces(model, token, s);
            prepare(s->joined, model->heads * model->dim, s);
            multiply(&layer->output, s, hidden, 1);
            normalise(hidden, layer->post_norm, model->width, model->epsilon, s->x, 0);
            prepare(s->x, model->width, s);
            multiply_gated(&layer->gate_up, s, s->acted);
            prepare(s->acted, model->inner, s);
            multiply(&layer->down, s, hidden, 1);
        }
        if (token->logits) {
            normalise(hidden, model->norm, model->width, model->epsilon, s->x, 0);
            prepare(s->x, model->width, s);
            multiply(&model->head, s, token->logits, 0);
        }
    }
}

/* Floats of scratch that `headstart_multiply` needs for rows of so many numbers. */
EXPORT int64_t headstart_row_scratch(int32_t columns) { return (int64_t)row_scratch(columns); }

/* out = matrix x, one product on its own: the last row of a prompt, and the measurement at load. `x` has `columns`
   numbers. */
EXPORT void headstart_multiply(const Matrix *matrix, const float *x, int32_t columns, float *scratch, float *out) {
    Scratch s = row_parts(scratch, columns);
    prepare(x, columns, &s);
#pragma omp parallel
    multiply(matrix, &s, out, 0);
}
