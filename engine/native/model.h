/* What Python hands over. `engine/native/library.py` has the same structures: count `VERSION` up with every change of them
   or of a function's arguments. */

#pragma once
#include <stddef.h>
#include <stdint.h>

#define VERSION 12

#define EXPORT __attribute__((visibility("default")))

enum { STRETCH = 64, WIDEST_HEAD = 512, MOST_GROUPS = 4096, MOST_TOKENS = 8 }; /* columns whose 4-bit codes lie together */

enum { FP16, BF16, NESTED, ROW, AS_Q4_0, AS_Q4_K, AS_Q8_0 }; /* how scales lie: see `Matrix` */

enum { SILU, GELU, GELU_TANH }; /* activations */

/* Weights of one number type, `rows` rows of `columns`, or several such matrices below each other.

   bits 4 and 8: a weight is `scale * code + least`, and each `group` of columns (16 or 32) of a row has a scale and a
   least. Columns are padded to whole stretches. In 4 bits a stretch is 8 words, and the code of its
   column 8 k + j is in word j, in the four bits from `bit_of(k)` on: two eights of columns behind each other are 16 bits
   apart, so that a word is pairs of 16-bit numbers. In 8 bits a code is a signed byte. Scales, and minimums where `mins` is not null,
   lie row by row, `groups` of them, a multiple of 8. They are numbers of one of two types (FP16, BF16), or signed bytes
   (NESTED) that count times an fp16 number for each 256 columns, in `supers` and `super_mins`. `least` is
   minimum - offset * scale. With ROW, 8 bits only, `scales` are fp32 and one a row, and there are no minimums.

   With AS_Q4_0, AS_Q4_K and AS_Q8_0 `codes` are the blocks of a GGUF file as they lie there, a row behind the other, scales among
   them (`blocks.h`), and all other pointers but those behind it are null. `columns` is a multiple of 256 then, `group` 32. Where
   `order` is not null, row i is the row `order[i]` there.

   bits 16 and 32: the weights themselves, in bf16 or fp32; `columns` is a multiple of 8. */
typedef struct Matrix {
    const void *codes, *scales, *mins, *supers, *super_mins;
    const float *bias;           /* or null */
    const int32_t *order;        /* or null */
    const struct Matrix *below;  /* or null */
    int32_t rows, columns, bits, group, groups, offset, kind;
} Matrix;

/* Norms are null where a family has none: before and after attention, before and after feed-forward, of queries and keys.
   Positions turn the first `turned` numbers of a head, by the angles `rope` of `Tokens`. A token sees `window` tokens, or
   with 0 all up to itself. */
typedef struct {
    Matrix qkv, output, gate_up, down;
    const float *input_norm, *mixed_norm, *post_norm, *added_norm, *query_norm, *key_norm;
    int32_t rope, turned, window;
} Layer;

/* `is_bf16`: keys and values, else fp32. `norms_together`: queries have one norm for all heads, and keys too. What half a
   layer gives counts `residual_scale` times. `softcap` bounds scores where it is not 0. */
typedef struct {
    const Layer *layers;
    Matrix head;
    const float *norm;
    int32_t num_layers, width, heads, kv_heads, dim, inner, is_bf16, activation, norms_together;
    float epsilon, residual_scale, softcap;
} Model;

/* `count` tokens behind each other, at most MOST_TOKENS, the first of them at `position`. `keys` and `values` are the
   lane's, `[layer, kv_head, capacity, dim]`. `hidden` `[count, width]` comes in as their embeddings, `cos` and `sin` are
   `[ropes, count, dim]`, `scales` `[count]` are what scores are multiplied with. `logits` are `[count, rows of the output matrix]`, or null. */
typedef struct {
    void *keys, *values;
    const float *cos, *sin, *scales;
    float *hidden, *scratch, *logits;
    int32_t position, capacity, count;
} Tokens;

/* `count` tokens of a prompt behind each other, the first of them at `position`, in bf16. `keys` and `values` are the lane's,
   as in `Tokens`. `hidden` `[count, width]` comes in as their embeddings, `cos` and `sin` are `[count, dim]`, `out` `[width]` is
   the last token behind the last norm. Scores are multiplied with `scale`; `kind` is the way of attention, as in `tiles.h`. */
typedef struct {
    void *keys, *values;
    const float *cos, *sin;
    void *hidden, *scratch, *out;
    int32_t position, capacity, count, kind;
    float scale;
} Prompt;

/* Where the keys and values of one layer go, `[kv_head, capacity, dim]`, and the norms of its heads `[dim]` or null. Positions turn the
   first `turned` numbers of a head. */
typedef struct {
    void *keys, *values;
    const float *query_norm, *key_norm;
    int32_t heads, kv_heads, dim, turned, capacity, is_bf16;
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

/* Where in `Tokens.scratch` what of one token is. `x` to `sums32` are what products with one row need: its numbers; the
   same as whole numbers of 16 bits, in their order and in that of 4-bit codes; for each 16 and each 32 the step that those
   count in, and the sums. Those and `joined` are each thread's own, so that what
   all need is computed by all instead of waited for. `partial` is, for each head and piece of keys, maximum score, sum of
   the exponentials, and weighted sum of the values `[dim]`. `part` is what half a layer gives, `[width]`. Each thread has one
   `pairs`, for the keys of a piece, in the scratch of the first of several tokens. */
typedef struct {
    float *x;
    int16_t *whole, *as_codes;
    float *steps16, *steps32, *sums16, *sums32, *joined, *fused, *acted, *partial, *part, *pairs;
} Scratch;

/* Where in their words the codes of the eight `k` of columns of a stretch begin. */
static inline int bit_of(int k) { return k / 2 * 4 + k % 2 * 16; }

/* Columns with zeros behind them up to eight groups of the larger size: scales are read in eights. */
static inline int padded(int columns) { return (columns + 255) / 256 * 256; }

/* How many floats the parts of a scratch up to `sums32` need, for rows of so many numbers. */
static inline size_t row_scratch(int columns) { return 2 * padded(columns) + padded(columns) / 8 + padded(columns) / 16; }

static inline Scratch row_parts(float *scratch, int columns) {
    const int all = padded(columns);
    int16_t *whole = (int16_t *)(scratch + all);
    float *steps = scratch + 2 * all;
    return (Scratch){.x = scratch, .whole = whole, .as_codes = whole + all, .steps16 = steps, .sums16 = steps + all / 16,
                     .steps32 = steps + all / 8, .sums32 = steps + all / 8 + all / 32};
}

/* Index of a key or value in the lane. */
static inline size_t slot(const Model *model, const Tokens *tokens, int layer, int kv_head, int position) {
    return (((size_t)layer * model->kv_heads + kv_head) * tokens->capacity + position) * model->dim;
}
