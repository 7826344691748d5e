/* Products of many rows with weights in few bits, or in bf16: what reads a prompt. Rows and products are bf16.

   A thread takes some outputs at a time: their weights, or where rows are few some columns of them, are widened to bf16 into
   memory of its own, which stays in its cache, and multiplied with all rows there, 16 outputs with 16 rows in one instruction
   (AMX). Every number is summed up from the first column to the last, whatever else is computed with it: so a row has the same
   bits among any others. And so it does not matter either whether weights come in few bits or in bf16, to which they were
   rounded before. */

#include <omp.h>
#include "model.h"
#include "tiles.h"

enum {
    TAKEN = 32,             /* outputs that are summed up at a time */
    SUMMED = 64,            /* rows likewise */
    MOST_TAKEN = 128,       /* outputs that are widened at a time, where there are many rows */
    NEAR_BYTES = 40 << 10,  /* of widened weights where they are used once: what a core keeps nearest */
    PANEL_BYTES = 512 << 10 /* of them at most, but for TAKEN outputs: half of what a core keeps near */
};

/* How many outputs are widened at a time, and how many columns of them. Where there are few rows, what is widened is used
   once, and so little that it stays beside the processor; the sums wait meanwhile. */
typedef struct {
    int outputs, columns;
} Panel;

static Panel panel_of(int count, int columns) {
    const int padded_row = whole(columns, DEPTH);
    const size_t fit = PANEL_BYTES / 2 / padded_row / TAKEN * TAKEN;
    if (count <= SUMMED) return (Panel){TAKEN, 2 * TAKEN * padded_row <= NEAR_BYTES ? padded_row : PIECE_COLUMNS};
    return (Panel){fit < TAKEN ? TAKEN : fit < MOST_TAKEN ? (int)fit : MOST_TAKEN, padded_row};
}

static size_t panel_bytes(Panel panel) { return whole((size_t)panel.outputs * panel.columns * 2, LINE); }

/* Bytes of what each thread has of its own: widened weights, and sums. */
static size_t own_bytes(Panel panel) { return panel_bytes(panel) + TAKEN * SUMMED * sizeof(float); }

/* Bytes of `scratch`. */
EXPORT int64_t FORM(headstart_read_scratch)(int32_t count, int32_t columns) {
    const size_t packed = whole(count, 32) * whole(columns, DEPTH) * 2;
    return (int64_t)(packed + omp_get_max_threads() * own_bytes(panel_of(count, columns)) + 64);
}

#ifdef __AVX2__
/* Sixteen rows from `at` on as the right side of a product of tiles, with zeros behind the last row and column: the columns from
   `first` on. */
WIDE static void pack_rows(const uint16_t *rows, int count, int columns, int at, int first, int depth, uint32_t *to) {
    for (int k = first; k < first + depth; k += DEPTH, to += DEPTH / 2 * COLUMNS) {
        __m512i words[16];
        for (int i = 0; i < 16; i++) words[i] = words_of(rows, (size_t)(at + i) * columns, k, at + i < count ? columns : 0, 1, 1);
        turn16(words);
        for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + i * COLUMNS, words[i]);
    }
}

/* `sums` `[TAKEN, SUMMED]` of `outputs` outputs and `rows` rows, rounded into `out`, whose rows are `apart` numbers long;
   `bias` `[TAKEN]` is added before. */
ROUNDING static void round_sums(const float *sums, int outputs, int rows, const float *bias, uint16_t *out, size_t apart) {
    const __mmask32 there = outputs < TAKEN ? (1u << outputs) - 1 : ~0u;
    const __m512 first = _mm512_loadu_ps(bias), second = _mm512_loadu_ps(bias + 16);
    for (int at = 0; at < rows; at += 16) {
        __m512i left[16], right[16];
        for (int i = 0; i < 16; i++) left[i] = _mm512_loadu_si512(sums + i * SUMMED + at);
        turn16(left);
        for (int i = 0; i < 16; i++) right[i] = _mm512_loadu_si512(sums + (16 + i) * SUMMED + at);
        turn16(right);
        for (int i = 0; i < 16 && at + i < rows; i++) {
            const __m512 low = _mm512_add_ps(_mm512_castsi512_ps(left[i]), first);
            const __m512 high = _mm512_add_ps(_mm512_castsi512_ps(right[i]), second);
            _mm512_mask_storeu_epi16(out + (at + i) * apart, there, rounded(low, high));
        }
    }
}

/* A product: `packed` are its rows, `[piece of columns][group of 16 rows]`, and a row of `out` is `outputs` numbers long. */
typedef struct {
    const Matrix *matrix;
    const uint32_t *packed;
    uint16_t *out;
    int count, columns, padded_row, outputs;
    Panel panel;
} Product;

static int least(int a, int b) { return a < b ? a : b; }

/* The weights of `count` outputs from `first` on, `depth` columns from `k` on, `[up to a multiple of TAKEN, depth]`, with zeros
   behind the last. What is fetched meanwhile are their next columns, and behind the last those of the outputs from `next` on. */
static void write_weights(const Product *p, int first, int next, int count, int k, int depth, uint16_t *to) {
    const int there = least(p->columns - k, depth), is_last = k + depth >= p->columns;
    for (int done = 0; done < count;) {
        int row = first + done;
        const Matrix *m = holding(p->matrix, &row);
        const int rows = least(count - done, m->rows - row), next_row = is_last ? row + next - first : row;
        const Part part = {row, rows, k, there, depth, next_row, is_last ? 0 : k + depth};
        widen(m, &part, to, (size_t)done * depth, 1);
        done += rows;
    }
    for (int i = 0; there < depth && i < count; i++) memset(to + (size_t)i * depth + there, 0, (depth - there) * 2);
    memset(to + (size_t)count * depth, 0, (whole(count, TAKEN) - count) * depth * 2);
}

/* The weights of `count` outputs where they lie, if they lie in memory as they are multiplied; else null. */
static const uint16_t *lying(const Product *p, int first, int count) {
    int row = first;
    const Matrix *m = holding(p->matrix, &row);
    const int lies = m->bits == 16 && p->columns % DEPTH == 0 && count % TAKEN == 0 && row + count <= m->rows;
    return lies ? (const uint16_t *)m->codes + (size_t)row * p->columns : 0;
}

static void read_biases(const Matrix *matrix, int first, int count, float *bias) {
    for (int i = 0; i < count; i++) {
        int row = first + i;
        const Matrix *m = holding(matrix, &row);
        bias[i] = m->bias ? m->bias[row] : 0.0f;
    }
}

/* Some outputs of all rows, from `first` on; the thread's next ones are those from `next` on. */
static void read_outputs(const Product *p, int first, int next, char *own) {
    const int all = least(p->panel.outputs, p->outputs - first);
    const uint16_t *in_place = lying(p, first, all);
    float *sums = (float *)(own + panel_bytes(p->panel)), bias[MOST_TAKEN];
    read_biases(p->matrix, first, all, bias);
    for (int k = 0; k < p->padded_row; k += p->panel.columns) {
        const int depth = least(p->panel.columns, p->padded_row - k), weight_row = in_place ? p->columns : depth;
        const uint16_t *weights = in_place ? in_place + k : (uint16_t *)own;
        if (!in_place) write_weights(p, first, next, all, k, depth, (uint16_t *)own);
        for (int row = 0; row < p->count; row += SUMMED) {
            const int rows = least(SUMMED, p->count - row);
            const int32_t *right = (const int32_t *)p->packed + (size_t)k / 2 * whole(p->count, 32) + (size_t)row * depth / 2;
            for (int output = 0; output < all; output += TAKEN) {
                const int32_t *left = (const int32_t *)(weights + (size_t)output * weight_row);
                uint16_t *out = p->out + (size_t)row * p->outputs + first + output;
                tile_amx(left, weight_row / 2, TAKEN, depth / 2, right, SUMMED, rows, sums, k > 0);
                if (k + depth == p->padded_row) round_sums(sums, least(TAKEN, all - output), rows, bias + output, out, p->outputs);
            }
        }
    }
}

/* The outputs that a thread computes after its present ones; it takes them early, to have their weights on their way. */
static int take(int *taken, int count) {
    int first;
#pragma omp atomic capture
    {
        first = *taken;
        *taken += count;
    }
    return first;
}
#endif

/* out = rows `[count, columns]` times a matrix and those below it, plus their biases: `[count, all their rows]`. Only where
   `headstart_widest` says AMX. `columns` is a multiple of 8. */
EXPORT void FORM(headstart_read_rows)(const Matrix *matrix, const uint16_t *rows, int32_t count, int32_t columns, uint16_t *out,
                                      void *scratch) {
#ifdef __AVX2__
    const int padded_row = whole(columns, DEPTH), groups = whole(count, 32) / COLUMNS;
    char *const begin = (char *)whole((uintptr_t)scratch, LINE), *const owns = begin + (size_t)groups * COLUMNS * padded_row * 2;
    const Product product = {matrix, (uint32_t *)begin, out, count, columns, padded_row, all_rows(matrix), panel_of(count, columns)};
    const Panel panel = product.panel;
    int taken = 0;
#pragma omp parallel
    {
        char *own = owns + omp_get_thread_num() * own_bytes(panel);
        begin_tiles(AMX);
#pragma omp for collapse(2) schedule(static)
        for (int k = 0; k < padded_row; k += panel.columns)
            for (int group = 0; group < groups; group++) {
                const int depth = least(panel.columns, padded_row - k);
                uint32_t *to = (uint32_t *)begin + (size_t)(k * groups + group * depth) * COLUMNS / 2;
                pack_rows(rows, count, columns, group * COLUMNS, k, depth, to);
            }
        for (int first = take(&taken, panel.outputs), next; first < product.outputs; first = next) {
            next = take(&taken, panel.outputs);
            read_outputs(&product, first, next, own);
        }
        end_tiles(AMX);
    }
#endif
}
