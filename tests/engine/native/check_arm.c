/* Runs the compiled part outside of Python: reads cases from standard input, writes what it computed. A case is its letter
   as a number, its sizes, and its arrays, as `check_arm.py` writes them. */

#include <stdio.h>
#include <stdlib.h>
#include "engine/native/plain.c"
#include "engine/native/repack.c"

static void take(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) exit(2);
}

static void *taken(size_t bytes) {
    void *to = calloc(1, bytes + 64);
    take(to, bytes);
    return to;
}

static void give(const void *from, size_t bytes) { fwrite(from, 1, bytes, stdout); }

/* Blocks of a GGUF type: repacked, or as they lie, widened, and multiplied with a row. */
static void multiply_blocks(int lie) {
    int32_t n[9]; /* type, bytes of a row of blocks, rows, columns, bits, group, offset, is nested, has minimums */
    take(n, sizeof n);
    const int rows = n[2], columns = n[3], group = n[5], groups = (columns / group + 7) / 8 * 8, all = (columns + 63) / 64 * 64;
    uint8_t *blocks = taken((size_t)rows * n[1]);
    float *x = taken(4 * columns), *out = calloc(rows, 4), *wide = calloc((size_t)rows * columns, 4);
    const int kind = n[0] == 2 ? AS_Q4_0 : n[0] == 12 ? AS_Q4_K : AS_Q8_0;
    Matrix m = {.codes = calloc(rows, all), .scales = calloc(rows, 2 * groups), .mins = n[8] ? calloc(rows, 2 * groups) : 0,
                .supers = calloc(rows, columns), .super_mins = calloc(rows, columns), .rows = rows, .columns = all, .bits = n[4],
                .group = group, .groups = groups, .offset = n[6], .kind = n[7] ? NESTED : FP16};
    if (lie) m = (Matrix){.codes = blocks, .rows = rows, .columns = columns, .bits = n[4], .group = 32, .groups = columns / 32, .kind = kind};
    else headstart_repack(n[0], blocks, n[1], columns, &m);
    headstart_widen_plain(&m, 0, rows, columns, wide, 0);
    headstart_multiply_plain(&m, x, columns, calloc(headstart_row_scratch_plain(columns), 4), out);
    give(wide, (size_t)rows * columns * 4);
    give(out, rows * 4);
}

static void attend_all(void) {
    int32_t n[7]; /* heads, kv_heads, key_dim, value_dim, rows, end, is_bf16 */
    take(n, sizeof n);
    const int size = n[6] ? 2 : 4;
    Attention a = {.heads = n[0], .kv_heads = n[1], .key_dim = n[2], .value_dim = n[3], .rows = n[4], .end = n[5],
                   .is_bf16 = n[6], .query_row = n[0] * n[2], .query_head = n[2], .key_row = n[2], .key_head = n[5] * n[2],
                   .value_row = n[3], .value_head = n[5] * n[3], .scale = 0.25f};
    a.queries = taken((size_t)n[4] * n[0] * n[2] * size);
    a.keys = taken((size_t)n[1] * n[5] * n[2] * size);
    a.values = taken((size_t)n[1] * n[5] * n[3] * size);
    a.out = calloc((size_t)n[4] * n[0] * n[3], size);
    a.scratch = calloc(headstart_attention_scratch_plain(&a), 1);
    headstart_attend_plain(&a);
    give(a.out, (size_t)n[4] * n[0] * n[3] * size);
}

static Matrix full(int rows, int columns) {
    return (Matrix){.codes = taken((size_t)rows * columns * 4), .rows = rows, .columns = columns, .bits = 32};
}

/* One layer and the head over some tokens, one after the other; the logits of all. Either a Llama's, or one with most of
   what other families do: a window, soft caps, norms behind each half and over all heads, half of a head turned. */
static void step_through(int is_other) {
    int32_t n[7]; /* width, inner, heads, kv_heads, dim, vocabulary, tokens */
    take(n, sizeof n);
    const int width = n[0], inner = n[1], heads = n[2], kv_heads = n[3], dim = n[4], vocabulary = n[5], tokens = n[6];
    Layer layer = {full((heads + 2 * kv_heads) * dim, width), full(width, heads * dim), full(2 * inner, width),
                   full(width, inner), .input_norm = taken(4 * width), .post_norm = taken(4 * width), .turned = dim};
    Model model = {&layer, full(vocabulary, width), taken(4 * width), 1, width, heads, kv_heads, dim, inner, .epsilon = 1e-5f,
                   .residual_scale = 1};
    if (is_other) {
        layer.mixed_norm = taken(4 * width), layer.added_norm = taken(4 * width);
        layer.query_norm = taken(4 * heads * dim), layer.key_norm = taken(4 * kv_heads * dim);
        layer.turned = dim / 2, layer.window = 20;
        model.norms_together = 1, model.activation = GELU_TANH, model.residual_scale = 0.5f, model.softcap = 2;
    }
    const float scale = 0.25f;
    void *keys = calloc((size_t)kv_heads * tokens * dim, 4), *values = calloc((size_t)kv_heads * tokens * dim, 4);
    for (int position = 0; position < tokens; position++) {
        float *cos = taken(4 * dim), *sin = taken(4 * dim), *hidden = taken(4 * width), *logits = calloc(vocabulary, 4);
        Tokens token = {keys, values, cos, sin, &scale, hidden, calloc(headstart_scratch_plain(&model, position + 1, 1), 4), logits, position, tokens, 1};
        headstart_step_plain(&model, &token);
        give(logits, 4 * vocabulary);
    }
}

int main(void) {
    int32_t letter;
    while (fread(&letter, 4, 1, stdin) == 1) {
        if (letter == 'P' || letter == 'B') multiply_blocks(letter == 'B');
        else if (letter == 'A') attend_all();
        else step_through(letter == 'F');
    }
    return 0;
}
