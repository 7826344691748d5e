/* What Python hands over. `engine/native/library.py` has the same structures: count `VERSION` up with every change of them
   or of a function's arguments. */

#pragma once
#include <stddef.h>
#include <stdint.h>

#define VERSION 3

#define EXPORT __attribute__((visibility("default")))

enum { GROUP = 32, STRETCH = 64, WIDEST_HEAD = 512 }; /* columns of one int4 scale; columns whose codes lie together */

/* Few-bit weights, `columns` padded to whole stretches.

   int4, `scale * (code - 8) + zero`: a stretch is 8 words of 32 bits; bits 4 k to 4 k + 3 of word j are the code of its
   column 8 k + j. `scales` are a word a group: scale in the upper, zero in the lower half, both bf16; each row has a
   multiple of 8 words.

   int8, `scale * code`: bytes; `scales` are fp32, one a row. */
typedef struct {
    const void *codes, *scales;
    const float *bias; /* or null */
    int32_t rows, columns, bits;
} Matrix;

typedef struct {
    Matrix qkv, output, gate_up, down;
    const float *input_norm, *post_norm, *query_norm, *key_norm; /* the last two or null */
} Layer;

typedef struct {
    const Layer *layers;
    Matrix head;
    const float *norm;
    int32_t num_layers, width, heads, kv_heads, dim, inner, is_bf16; /* is_bf16: keys and values, else fp32 */
    float epsilon;
} Model;

/* One token. `keys` and `values` are the lane's, `[layer, kv_head, capacity, dim]`. `hidden` comes in as its embedding,
   `cos` and `sin` are `[dim]`. `logits` may be null. */
typedef struct {
    void *keys, *values;
    const float *cos, *sin;
    float *hidden, *scratch, *logits;
    int32_t position, capacity;
} Token;

/* Where the keys and values of one layer go, `[kv_head, capacity, dim]`, and the norms of its heads `[dim]` or null. */
typedef struct {
    void *keys, *values;
    const float *query_norm, *key_norm;
    int32_t heads, kv_heads, dim, capacity, is_bf16;
    float epsilon;
} Heads;

/* Attention of the last `rows` of `end` tokens. Queries, keys and values are found by how many numbers the next token and
   the next head are away; `out` is `[rows, heads, value_dim]`. `seen` says of each token and key whether it counts, or is
   null: then every token sees those up to itself. No token sees one behind itself in either case. `sinks` is a score for
   each head that takes a share of the softmax and adds nothing, or null. `kind` is a way in `tiles.h`. */
typedef struct {
    const void *queries, *keys, *values;
    const uint8_t *seen;
    const float *sinks;
    void *out, *scratch;
    int64_t query_row, query_head, key_row, key_head, value_row, value_head, seen_row;
    int32_t heads, kv_heads, key_dim, value_dim, rows, end, is_bf16, kind;
    float scale, softcap;
} Attention;

/* Where in `Token.scratch` what is. `x`, the sums of its groups, and `joined` are each thread's own, so that what all
   need is computed by all instead of waited for. `partial` is, for each head and piece of keys, maximum score, sum of
   the exponentials, and weighted sum of the values `[dim]`. */
typedef struct {
    float *x, *sums, *joined, *fused, *acted, *partial;
} Scratch;

static inline int padded(int columns) { return (columns + STRETCH - 1) / STRETCH * STRETCH; }
static inline int words(int columns) { return (columns / GROUP + 7) / 8 * 8; }

/* Index of a key or value in the lane. */
static inline size_t slot(const Model *model, const Token *token, int layer, int kv_head, int position) {
    return (((size_t)layer * model->kv_heads + kv_head) * token->capacity + position) * model->dim;
}
