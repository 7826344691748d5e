/* Products of a few rows with a matrix in bf16 as it lies: each of its numbers is fetched once, and nothing is done to
   it. What a row gives is summed up by itself, from the first column to the last; so it is the same with any others. */

#include "model.h"
#include "tiles.h"

enum {
    FEW_ROWS = 64, /* at once */
    TAKEN = 32,   /* rows of the matrix that a thread takes at a time: what all ways round up to */
};

#ifdef __AVX2__
/* Sixteen rows from `at` on as the right side of a product of tiles, their columns from `first` to `last`; zeros behind
   the last row. */
WIDE static void pack_rows(const uint16_t *rows, int count, int columns, int at, int first, int last, uint32_t *to) {
    for (int k = first; k < last; k += DEPTH, to += DEPTH / 2 * COLUMNS) {
        __m512i words[16];
        for (int i = 0; i < 16; i++)
            words[i] = at + i < count ? _mm512_loadu_si512(rows + (size_t)(at + i) * columns + k) : _mm512_setzero_si512();
        turn16(words);
        for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + i * COLUMNS, words[i]);
    }
}

WIDE static void add_sums(float *sums, const float *more, int count) {
    for (int i = 0; i < count; i += 16)
        _mm512_storeu_ps(sums + i, _mm512_add_ps(_mm512_loadu_ps(sums + i), _mm512_loadu_ps(more + i)));
}

/* `sums` `[TAKEN, width]` rounded into TAKEN columns of `out`, for the rows from `at` on. */
WIDE static void round_sums(const float *sums, int width, int at, int count, uint16_t *out, size_t out_row) {
    for (int output = 0; output < TAKEN; output += 16) {
        __m512i words[16];
        for (int i = 0; i < 16; i++) words[i] = _mm512_loadu_si512(sums + (output + i) * width + at);
        turn16(words);
        for (int i = 0; i < 16 && at + i < count; i++)
            _mm256_storeu_si256((__m256i *)(out + (at + i) * out_row + output), bf16_of_16(_mm512_castsi512_ps(words[i])));
    }
}
#endif

/* `out[row] = matrix rows[row]`, `[count, columns]` and `[outputs, columns]` to `[count, outputs]`: at most FEW_ROWS
   rows, outputs and columns multiples of 32. Each `part` of columns is summed up from zero, and the parts from the first
   to the last; `part` is a multiple of 32. `scratch` has room for the rows, filled up to a multiple of 32. `kind` is one
   of the two ways that are for bf16. */
EXPORT void FORM(headstart_multiply_few)(const uint16_t *matrix, const uint16_t *rows, uint16_t *out, void *scratch, int32_t count,
                                   int32_t columns, int32_t outputs, int32_t part, int32_t kind) {
#ifdef __AVX2__
    const int width = (count + 31) / 32 * 32, parts = (columns + part - 1) / part, groups = width / COLUMNS;
    uint32_t *packed = (uint32_t *)(((uintptr_t)scratch + 63) / 64 * 64);
#pragma omp parallel
    {
        float sums[TAKEN * FEW_ROWS] __attribute__((aligned(64))), more[TAKEN * FEW_ROWS] __attribute__((aligned(64)));
        begin_tiles(kind);
#pragma omp for schedule(static)
        for (int unit = 0; unit < parts * groups; unit++) {
            const int first = unit / groups * part, last = first + part < columns ? first + part : columns;
            const size_t to = (size_t)first / 2 * width + (size_t)(unit % groups) * (last - first) / 2 * COLUMNS;
            pack_rows(rows, count, columns, unit % groups * COLUMNS, first, last, packed + to);
        }
#pragma omp for schedule(static)
        for (int output = 0; output < outputs; output += TAKEN) {
            for (int first = 0; first < columns; first += part) {
                const int depth = first + part < columns ? part : columns - first;
                tile(kind, matrix + (size_t)output * columns + first, columns, TAKEN, depth, packed + (size_t)first / 2 * width,
                     width, first ? more : sums, 0);
                if (first) add_sums(sums, more, TAKEN * width);
            }
            for (int at = 0; at < count; at += 16) round_sums(sums, width, at, count, out + output, outputs);
        }
        end_tiles(kind);
    }
#endif
}
