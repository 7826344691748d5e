/* The forward pass of one token over few-bit weights: what `engine/nativedecode.py` calls. x86-64 with AVX2 and FMA.

   At one row, torch spends as long on being called as on computing, and its int4 kernel widens every weight from a byte
   of its own. Here a token is one call, and eight weights are taken out of eight words at a time.

   Activations, sums and scores are fp32; every sum is made by one thread in one order, so that the numbers do not hang
   on the number of threads. OpenMP's functions come from the library that torch has loaded: a second team of threads
   would wait for the same processors. */

#include "attention.h"
#include "heads.h"
#include "matrix.h"
#include "model.h"

/* The heads of one layer. By one thread. */
static void place_heads(const Model *model, int index, const Token *token, Scratch *s) {
    const Layer *layer = model->layers + index;
    const size_t at = slot(model, token, index, 0, 0) * (model->is_bf16 ? 2 : 4);
    const Heads heads = {(char *)token->keys + at, (char *)token->values + at, layer->query_norm, layer->key_norm,
                         model->heads, model->kv_heads, model->dim, token->capacity, model->is_bf16, model->epsilon};
    for (int head = 0; head < model->heads + 2 * model->kv_heads; head++)
        place_head(&heads, head, s->fused + head * model->dim, token->position, token->cos, token->sin);
}

INLINE int longest(int a, int b) { return a > b ? a : b; }

typedef struct {
    size_t sums, fused, attended, acted, partial, end;
} Offsets;

/* Where the parts of the scratch begin, in floats; `x` is the first. */
static Offsets offsets(const Model *model, int position) {
    const int most = padded(longest(longest(model->width, model->inner), model->heads * model->dim));
    Offsets o;
    o.sums = most;
    o.fused = o.sums + words(most);
    o.attended = o.fused + (size_t)(model->heads + 2 * model->kv_heads) * model->dim;
    o.acted = o.attended + (size_t)model->heads * model->dim;
    o.partial = o.acted + model->inner;
    o.end = o.partial + (size_t)model->heads * pieces(position + 1) * (model->dim + 2);
    return o;
}

/* What Python compares with its own before it calls anything. */
EXPORT const int32_t headstart_layout[] = {VERSION,       sizeof(Matrix), sizeof(Layer),
                                           sizeof(Model), sizeof(Token),  sizeof(Heads)};

/* Floats of `Token.scratch` that a token at `position` needs. */
EXPORT int64_t headstart_scratch(const Model *model, int32_t position) {
    return (int64_t)offsets(model, position).end;
}

/* logits = model(token), and its keys and values in the lane. */
EXPORT void headstart_step(const Model *model, const Token *token) {
    const Offsets o = offsets(model, token->position);
    float *start = token->scratch;
    Scratch all = {start, start + o.sums, start + o.fused, start + o.attended, start + o.acted, start + o.partial};
    Scratch *s = &all;
    float *hidden = token->hidden;
#pragma omp parallel
    {
        for (int index = 0; index < model->num_layers; index++) {
            const Layer *layer = model->layers + index;
#pragma omp single
            {
                normalise(hidden, layer->input_norm, model->width, model->epsilon, s->x, 0);
                prepare(&layer->qkv, s->x, model->width, s);
            }
            multiply(&layer->qkv, s, s->fused, 0);
#pragma omp single
            place_heads(model, index, token, s);
            attend_in_pieces(model, index, token, s);
#pragma omp single
            {
                join_pieces(model, token, s);
                prepare(&layer->output, s->attended, model->heads * model->dim, s);
            }
            multiply(&layer->output, s, hidden, 1);
#pragma omp single
            {
                normalise(hidden, layer->post_norm, model->width, model->epsilon, s->x, 0);
                prepare(&layer->gate_up, s->x, model->width, s);
            }
            multiply_gated(&layer->gate_up, s, s->acted);
#pragma omp single
            prepare(&layer->down, s->acted, model->inner, s);
            multiply(&layer->down, s, hidden, 1);
        }
        if (token->logits) {
#pragma omp single
            {
                normalise(hidden, model->norm, model->width, model->epsilon, s->x, 0);
                prepare(&model->head, s->x, model->width, s);
            }
            multiply(&model->head, s, token->logits, 0);
        }
    }
}

/* out = matrix x, one product on its own: the last row of a prompt, and the measurement at load. `x` has `columns`
   numbers, `scratch` room for twice the matrix's padded ones. */
EXPORT void headstart_multiply(const Matrix *matrix, const float *x, int32_t columns, float *scratch, float *out) {
    Scratch s = {.x = scratch, .sums = scratch + matrix->columns};
#pragma omp parallel
    {
#pragma omp single
        prepare(matrix, x, columns, &s);
        multiply(matrix, &s, out, 0);
    }
}
