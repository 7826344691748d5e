/* The forward pass of a token, or of a few behind each other, over few-bit weights: what `engine/llama/compiled_step.py`
   calls.

   At one row, torch spends as long on being called as on computing, and its int4 kernel widens every weight from a byte
   of its own. Here a token is one call, and sixteen weights are taken out of eight words at a time. Tokens that are
   computed together share the taking out, and nothing else: each has the numbers, to the last bit, that it has alone.

   Activations, sums and scores are fp32, but that products with codes take activations of 16 bits; every sum is made by one thread in one order, so that the numbers do not hang
   on the number of threads. OpenMP's functions come from the library that torch has loaded: a second team of threads
   would wait for the same processors. */

#include <omp.h>
#include "attention.h"
#include "heads.h"
#include "matrix.h"
#include "model.h"
#include "places.h"

/* Take 16 numbers at a time in products with one row and in what is written out, where that is wanted and this processor can;
   whether it does. With 2 it is wanted without the instruction that rounds: the numbers are the same. */
EXPORT int32_t FORM(headstart_widen_rows)(int32_t is_wanted) {
#ifdef __AVX2__
    __builtin_cpu_init();
    const int can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    is_wide = !is_wanted || !can ? NARROW : is_wanted == 1 && can_round() ? ROUNDS : IS_WIDE;
    return is_wide != NARROW;
#else
    return is_wanted && 0;
#endif
}

/* The norm of all queries of a token together, and that of all keys. By all threads. */
static void normalise_together(const Model *model, const Layer *layer, int count, const Scratch *s) {
    const int queries = model->heads * model->dim, keys = model->kv_heads * model->dim;
#pragma omp for schedule(dynamic, 1)
    for (int unit = 0; unit < 2 * count; unit++) {
        float *own = s[unit / 2].fused;
        if (unit % 2) normalise(own + queries, layer->key_norm, keys, model->epsilon, own + queries, 0);
        else normalise(own, layer->query_norm, queries, model->epsilon, own, 0);
    }
}

/* Where the heads of one layer go in a lane. */
static Heads heads_of(const Model *model, int index, void *keys, void *values, int capacity) {
    const Layer *layer = model->layers + index;
    const size_t at = (size_t)index * model->kv_heads * capacity * model->dim * (model->is_bf16 ? 2 : 4);
    const int has_own = !model->norms_together;
    return (Heads){(char *)keys + at, (char *)values + at, has_own ? layer->query_norm : 0, has_own ? layer->key_norm : 0,
                   model->heads, model->kv_heads, model->dim, layer->turned, capacity, model->is_bf16, model->epsilon};
}

static void place_heads(const Model *model, int index, int head, const Tokens *tokens, const Scratch *s) {
    const Heads heads = heads_of(model, index, tokens->keys, tokens->values, tokens->capacity);
    for (int t = 0; t < tokens->count; t++) {
        const size_t at = ((size_t)model->layers[index].rope * tokens->count + t) * model->dim;
        place_head(&heads, head, s[t].fused + head * model->dim, tokens->position + t, tokens->cos + at, tokens->sin + at);
    }
}

/* The heads of one layer: products, norms, rotation, and their places. By all threads, a head of all tokens each. */
static void multiply_heads(const Model *model, int index, const Tokens *tokens, const Scratch *s, size_t apart) {
    const Layer *layer = model->layers + index;
    const int dim = model->dim, count = model->heads + 2 * model->kv_heads;
#pragma omp for schedule(dynamic, 1)
    for (int head = 0; head < count; head++) {
        rows_times(&layer->qkv, head * dim, dim, s, tokens->count, s->fused + head * dim, apart);
        if (!model->norms_together) place_heads(model, index, head, tokens, s);
    }
    if (!model->norms_together) return;
    normalise_together(model, layer, tokens->count, s);
#pragma omp for schedule(dynamic, 1)
    for (int head = 0; head < count; head++) place_heads(model, index, head, tokens, s);
}

typedef struct {
    int most, threads;
    size_t joined, own, acted, partial, shared;
} Offsets;

/* Where the parts of the scratch begin, in floats. Of each token a thread's own part has `own` of them; behind those of
   all `threads` come the products of the heads and what follows them, `shared` of each token, counted from there. Last
   are the parts that are added to the stream, `[count, width]`, and each thread's keys in pairs. Threads are counted
   before they start: within, OMP_NUM_THREADS may name another number. */
static Offsets offsets(const Model *model, int seen) {
    Offsets o = {.most = longest(longest(model->width, model->inner), model->heads * model->dim),
                 .threads = omp_get_max_threads()};
    o.joined = row_scratch(o.most);
    o.own = o.joined + (size_t)model->heads * model->dim;
    o.acted = (size_t)(model->heads + 2 * model->kv_heads) * model->dim;
    o.partial = o.acted + model->inner;
    o.shared = o.partial + (size_t)model->heads * pieces(seen) * (model->dim + 2);
    return o;
}

/* Floats of `Tokens.scratch` that `count` tokens need, of which the last sees `seen`. */
EXPORT int64_t FORM(headstart_scratch)(const Model *model, int32_t seen, int32_t count) {
    const Offsets o = offsets(model, seen);
    const size_t pairs = count > 1 ? (size_t)PIECE * model->dim * o.threads : 0;
    return (int64_t)((o.own * o.threads + o.shared + model->width) * count + pairs);
}

/* This thread's parts of the scratch, one of each token, and those of all threads. */
static void lay_out(const Model *model, const Tokens *tokens, const Offsets *o, Scratch *s) {
    float *behind = tokens->scratch + (o->own * o->threads + o->shared) * tokens->count;
    for (int t = 0; t < tokens->count; t++) {
        float *own = tokens->scratch + o->own * (omp_get_thread_num() * tokens->count + t);
        float *shared = tokens->scratch + o->own * o->threads * tokens->count + o->shared * t;
        s[t] = row_parts(own, o->most);
        s[t].joined = own + o->joined;
        s[t].fused = shared, s[t].acted = shared + o->acted, s[t].partial = shared + o->partial;
        s[t].part = behind + (size_t)t * model->width;
    }
    s->pairs = behind + (size_t)tokens->count * model->width + (size_t)PIECE * model->dim * omp_get_thread_num();
}

/* The stream of all tokens, or its norms where there is a weight, ready for products. Each thread for itself. */
static void normalise_all(const Model *model, const Tokens *tokens, const float *weight, Scratch *s) {
    for (int t = 0; t < tokens->count; t++) {
        const float *own = tokens->hidden + (size_t)t * model->width;
        if (weight) normalise(own, weight, model->width, model->epsilon, s[t].x, 0);
        prepare(weight ? s[t].x : own, model->width, s + t);
    }
}

/* Add half a layer to the stream: the product with its last matrix, or the norm of that. By all threads. */
static void add(const Model *model, const Tokens *tokens, const Matrix *matrix, const float *norm, const Scratch *s) {
    const int width = model->width;
    if (!norm) {
        multiply(matrix, s, tokens->count, tokens->hidden, model->residual_scale);
        return;
    }
    multiply(matrix, s, tokens->count, s->part, 0);
#pragma omp for schedule(dynamic, 1)
    for (int t = 0; t < tokens->count; t++) {
        float *own = tokens->hidden + (size_t)t * width;
        normalise(s[t].part, norm, width, model->epsilon, s[t].part, 0);
        for (int i = 0; i < width; i++) own[i] += model->residual_scale * s[t].part[i];
    }
}

/* One layer. Five barriers, and one for each norm behind its half: where threads share processors with others, each may
   be a wait. */
static void compute_layer(const Model *model, int index, const Tokens *tokens, Scratch *s, size_t apart) {
    const Layer *layer = model->layers + index;
    const int count = tokens->count;
    normalise_all(model, tokens, layer->input_norm, s);
    multiply_heads(model, index, tokens, s, apart);
    attend_in_pieces(model, index, tokens, s);
    for (int t = 0; t < count; t++) {
        join_pieces(model, layer->window, tokens->position + t + 1, s + t);
        prepare(s[t].joined, model->heads * model->dim, s + t);
    }
    add(model, tokens, &layer->output, layer->mixed_norm, s);
    normalise_all(model, tokens, layer->post_norm, s);
    multiply_gated(&layer->gate_up, model->activation, s, count);
    for (int t = 0; t < count; t++) prepare(s[t].acted, model->inner, s + t);
    add(model, tokens, &layer->down, layer->added_norm, s);
}

/* logits = model(tokens), and their keys and values in the lane. Each token has the numbers that it has alone. */
EXPORT void FORM(headstart_step)(const Model *model, const Tokens *tokens) {
    const Offsets o = offsets(model, tokens->position + tokens->count);
    Places places;
#pragma omp parallel
    {
        Scratch s[MOST_TOKENS];
        take_places(&places);
        lay_out(model, tokens, &o, s);
        for (int index = 0; index < model->num_layers; index++) compute_layer(model, index, tokens, s, o.shared);
        if (tokens->logits) {
            normalise_all(model, tokens, model->norm, s);
            multiply(&model->head, s, tokens->count, tokens->logits, 0);
        }
        leave_places(&places);
    }
}

/* Floats of scratch that `headstart_multiply` needs for rows of so many numbers. */
EXPORT int64_t FORM(headstart_row_scratch)(int32_t columns) { return (int64_t)row_scratch(columns); }

/* out = matrix x, one product on its own: the last row of a prompt, and the measurement at load. `x` has `columns`
   numbers. */
EXPORT void FORM(headstart_multiply)(const Matrix *matrix, const float *x, int32_t columns, float *scratch, float *out) {
    Scratch s = row_parts(scratch, columns);
    Places places;
    prepare(x, columns, &s);
#pragma omp parallel
    {
        take_places(&places);
        multiply(matrix, &s, 1, out, 0);
        leave_places(&places);
    }
}
