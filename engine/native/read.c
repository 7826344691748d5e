/* Products of many rows with weights in few bits, or in bf16: what reads a prompt. Rows and products are bf16.

   A thread takes some outputs at a time: their weights are widened to bf16 into memory of its own, which stays in its
   cache, and multiplied with all rows there, 16 outputs with 16 rows in one instruction (AMX). Every number is summed up
   from the first column to the last, whatever else is computed with it: so a row has the same bits among any others. And so
   it does not matter either whether weights come in few bits or in bf16, to which they were rounded before. */

#include <omp.h>
#include "model.h"
#include "tiles.h"

enum {
    TAKEN = 32,             /* outputs that are summed up at a time */
    SUMMED = 64,            /* rows likewise */
    MOST_TAKEN = 128,       /* outputs that are widened at a time, where there are many rows */
    PANEL_BYTES = 512 << 10 /* of them at most, but for TAKEN outputs: half of what a core keeps near */
};

/* Outputs that are widened at a time. */
static int outputs_at_once(int count, int columns) {
    const size_t fit = PANEL_BYTES / 2 / whole(columns, DEPTH) / TAKEN * TAKEN;
    return count <= SUMMED || fit < TAKEN ? TAKEN : fit < MOST_TAKEN ? (int)fit : MOST_TAKEN;
}

/* Bytes of what each thread has of its own: widened weights, and sums. */
static size_t own_bytes(int count, int columns) {
    return whole((size_t)outputs_at_once(count, columns) * whole(columns, DEPTH) * 2, 64) + TAKEN * SUMMED * sizeof(float);
}

/* Bytes of `scratch`. */
EXPORT int64_t FORM(headstart_read_scratch)(int32_t count, int32_t columns) {
    return (int64_t)(whole(count, 32) * whole(columns, DEPTH) * 2 + omp_get_max_threads() * own_bytes(count, columns) + 64);
}

#ifdef __AVX2__
/* Sixteen rows from `at` on as the right side of a product of tiles, with zeros behind the last row and column. */
WIDE static void pack_rows(const uint16_t *rows, int count, int columns, int at, uint32_t *to) {
    for (int k = 0; k < columns; k += DEPTH, to += DEPTH / 2 * COLUMNS) {
        __m512i words[16];
        for (int i = 0; i < 16; i++) words[i] = words_of(rows, (size_t)(at + i) * columns, k, at + i < count ? columns : 0, 1, 1);
        turn16(words);
        for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + i * COLUMNS, words[i]);
    }
}

#if __GNUC__ < 11
#define ROUNDING WIDE /* never called there: see tiles.h */
INLINE __m512i rounded(__m512 low, __m512 high) { return _mm512_setzero_si512(); }
#else
#define ROUNDING __attribute__((target("avx512f,avx512bw,avx512bf16")))
ROUNDING INLINE __m512i rounded(__m512 low, __m512 high) { return (__m512i)_mm512_cvtne2ps_pbh(high, low); }
#endif

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

/* The weights of `count` outputs from `first` on, `[up to a multiple of TAKEN, padded]`, in `to` or where they lie; and
   their biases. */
static const uint16_t *weights_of(const Matrix *matrix, int first, int count, int columns, uint16_t *to, float *bias) {
    const size_t padded_row = whole(columns, DEPTH);
    int top = first;
    const Matrix *own = holding(matrix, &top);
    const int lies = own->bits == 16 && padded_row == (size_t)columns && count % TAKEN == 0 && top + count <= own->rows;
    for (int i = 0; i < count; i++) {
        int row = first + i;
        const Matrix *m = holding(matrix, &row);
        uint16_t *at = to + i * padded_row;
        bias[i] = m->bias ? m->bias[row] : 0.0f;
        if (lies) continue;
        widen(m, row, columns, at, 0, 1);
        memset(at + columns, 0, (padded_row - columns) * 2);
    }
    if (!lies) memset(to + count * padded_row, 0, (whole(count, TAKEN) - count) * padded_row * 2);
    return lies ? (const uint16_t *)own->codes + (size_t)top * columns : to;
}

/* Some outputs of all rows, from `first` on. */
static void read_outputs(const Matrix *matrix, const uint32_t *packed, int count, int columns, int first, int outputs, char *own,
                         uint16_t *out, size_t apart) {
    const size_t padded_row = whole(columns, DEPTH);
    float biases[MOST_TAKEN], *sums = (float *)(own + whole((size_t)outputs_at_once(count, columns) * padded_row * 2, 64));
    const uint16_t *weights = weights_of(matrix, first, outputs, columns, (uint16_t *)own, biases);
    for (int row = 0; row < count; row += SUMMED) {
        const int rows = count - row < SUMMED ? count - row : SUMMED;
        for (int output = 0; output < outputs; output += TAKEN) {
            const int some = outputs - output < TAKEN ? outputs - output : TAKEN;
            tile_amx((const int32_t *)(weights + output * padded_row), TAKEN, padded_row / 2,
                     (const int32_t *)packed + row * padded_row / 2, SUMMED, rows, sums, 0);
            round_sums(sums, some, rows, biases + output, out + (size_t)row * apart + first + output, apart);
        }
    }
}
#endif

/* out = rows `[count, columns]` times a matrix and those below it, plus their biases: `[count, all their rows]`. Only where
   `headstart_widest` says AMX. `columns` is a multiple of 8. */
EXPORT void FORM(headstart_read_rows)(const Matrix *matrix, const uint16_t *rows, int32_t count, int32_t columns, uint16_t *out,
                                      void *scratch) {
#ifdef __AVX2__
    const int all = all_rows(matrix), step = outputs_at_once(count, columns);
    const size_t padded_row = whole(columns, DEPTH);
    char *const begin = (char *)whole((uintptr_t)scratch, 64), *const owns = begin + whole(count, 32) * padded_row * 2;
#pragma omp parallel
    {
        char *own = owns + omp_get_thread_num() * own_bytes(count, columns);
        begin_tiles(AMX);
#pragma omp for schedule(static)
        for (int at = 0; at < (int)whole(count, 32); at += COLUMNS)
            pack_rows(rows, count, columns, at, (uint32_t *)begin + at * padded_row / 2);
#pragma omp for schedule(dynamic, 1)
        for (int first = 0; first < all; first += step)
            read_outputs(matrix, (const uint32_t *)begin, count, columns, first, all - first < step ? all - first : step, own, out,
                         all);
        end_tiles(AMX);
    }
#endif
}
