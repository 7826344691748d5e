/* Products of small tiles, in the widest way that a processor has: c = a b, or c += a b.

   `a` is `[rows, depth]`. `b` is packed in groups of 16 columns. In fp32 a group is `[depth, 16]`; in bf16 it is
   `[depth / 2, 16]` pairs, two numbers that follow each other in a column in one word. Every number of `c` is summed up
   by itself from the first product to the last, whatever else is in the tiles: that is what exactness rests on.

   Rows, depth and columns are padded: see ROWS, DEPTH. */

#pragma once
#include <stdint.h>
#include "vector.h"

enum { BY_EIGHTS, AVX512, AVX512_BF16, AMX }; /* from the narrowest to the widest; the last two are for bf16 */
enum { LINE = 64 };                      /* bytes of a cache line */
enum { COLUMNS = 16, DEPTH = 32 };       /* depth and columns are multiples of DEPTH; so a row is whole cache lines */

INLINE size_t whole(size_t n, size_t of) { return (n + of - 1) / of * of; }

/* `rows` is rounded up to a multiple of 6. */
static void tile_eights(const float *a, int rows, int depth, const float *b, int columns, float *c, int adds) {
    for (int column = 0; column < columns; column += COLUMNS, b += (size_t)depth * COLUMNS)
        for (int row = 0; row < rows; row += 6) {
            f8 sums[6][2];
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 2; j++) {
                    const float *own = c + (size_t)(row + i) * columns + column + 8 * j;
                    sums[i][j] = adds ? read8(own) : set8(0.0f);
                }
            for (int k = 0; k < depth; k++) {
                const f8 left = read8(b + k * COLUMNS), right = read8(b + k * COLUMNS + 8);
#pragma GCC unroll 6
                for (int i = 0; i < 6; i++) {
                    const f8 own = set8(*(a + (size_t)(row + i) * depth + k));
                    sums[i][0] = fma8(own, left, sums[i][0]);
                    sums[i][1] = fma8(own, right, sums[i][1]);
                }
            }
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 2; j++)
                    write8(c + (size_t)(row + i) * columns + column + 8 * j, sums[i][j]);
        }
}

#ifdef __AVX2__
/* Sixteen rows of sixteen words become columns. */
WIDE static inline void turn16(__m512i rows[16]) {
    __m512i pairs[16], fours[16];
    for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) /* now a quarter `q` of fours[i + j] is word 4 q + j of the rows i to i + 3 */
        for (int j = 0; j < 2; j++) {
            fours[i + 2 * j] = _mm512_unpacklo_epi64(pairs[i + j], pairs[i + j + 2]);
            fours[i + 2 * j + 1] = _mm512_unpackhi_epi64(pairs[i + j], pairs[i + j + 2]);
        }
    for (int j = 0; j < 4; j++) {
        const __m512i even = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0x88);
        const __m512i odd = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0xdd);
        const __m512i even_below = _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0x88);
        const __m512i odd_below = _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0xdd);
        rows[j] = _mm512_shuffle_i32x4(even, even_below, 0x88);
        rows[4 + j] = _mm512_shuffle_i32x4(odd, odd_below, 0x88);
        rows[8 + j] = _mm512_shuffle_i32x4(even, even_below, 0xdd);
        rows[12 + j] = _mm512_shuffle_i32x4(odd, odd_below, 0xdd);
    }
}

#define FP32 __attribute__((target("avx512f")))
#define PAIRS __attribute__((target("avx512f,avx512bf16")))
#define TILES __attribute__((target("avx512f,amx-tile,amx-bf16")))

/* `rows` is rounded up to a multiple of 8. Two groups of columns at a time. */
#define TILE_OF_8(NAME, TARGET, WORD, STEP)                                                                            \
    TARGET static void NAME(const WORD *a, int rows, int depth, const WORD *b, int columns, float *c,       \
                            int adds) {                                                                                \
        for (int column = 0; column < columns; column += 2 * COLUMNS, b += (size_t)depth * 2 * COLUMNS)                \
            for (int row = 0; row < rows; row += 8) {                                                                  \
                __m512 sums[8][2];                                                                                     \
                for (int i = 0; i < 8; i++)                                                                            \
                    for (int j = 0; j < 2; j++) {                                                                      \
                        const float *own = c + (size_t)(row + i) * columns + column + 16 * j;                          \
                        sums[i][j] = adds ? _mm512_loadu_ps(own) : _mm512_setzero_ps();                                \
                    }                                                                                                  \
                for (int k = 0; k < depth; k++) {                                                                      \
                    const __m512 left = _mm512_loadu_ps(b + k * COLUMNS);                                              \
                    const __m512 right = _mm512_loadu_ps(b + (size_t)(depth + k) * COLUMNS);                           \
                    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++) {                                              \
                        const WORD *own = a + (size_t)(row + i) * depth + k;                                           \
                        sums[i][0] = STEP(sums[i][0], own, left);                                                      \
                        sums[i][1] = STEP(sums[i][1], own, right);                                                     \
                    }                                                                                                  \
                }                                                                                                      \
                for (int i = 0; i < 8; i++)                                                                            \
                    for (int j = 0; j < 2; j++)                                                                        \
                        _mm512_storeu_ps(c + (size_t)(row + i) * columns + column + 16 * j, sums[i][j]);               \
            }                                                                                                          \
    }

#define ONE_STEP(sum, own, column) _mm512_fmadd_ps(_mm512_set1_ps(*(own)), column, sum)
TILE_OF_8(tile_avx512, FP32, float, ONE_STEP)

#if __GNUC__ < 11 /* it knows no such instructions */
static void begin_tiles(int kind) { (void)kind; }
static void end_tiles(int kind) { (void)kind; }
static void tile_pairs(const int32_t *a, int rows, int depth, const int32_t *b, int columns, float *c, int adds) {}
static void tile_amx(const int32_t *a, int a_row, int rows, int depth, const int32_t *b, int c_row, int columns, float *c, int adds) {}
#else
#define PAIR_STEP(sum, own, column) _mm512_dpbf16_ps(sum, (__m512bh)_mm512_set1_epi32(*(own)), (__m512bh)(column))
TILE_OF_8(tile_pairs, PAIRS, int32_t, PAIR_STEP)

/* gcc does not know that these instructions read memory: what was written before must be there. */
#define WRITTEN __asm__ volatile("" : : : "memory")

/* Rows and columns are rounded up to a multiple of 16: up to four sums of 16 x 16 at a time. `depth` counts pairs, as `a_row`
   does, what a row of `a` is long, and a row of `c` is `c_row` numbers long. */
TILES static void tile_amx(const int32_t *a, int a_row, int rows, int depth, const int32_t *b, int c_row, int columns, float *c,
                           int adds) {
    WRITTEN;
    for (int column = 0; column < columns; column += 2 * COLUMNS, b += (size_t)depth * 2 * COLUMNS)
        for (int row = 0; row < rows; row += 32) {
            float *own = c + (size_t)row * c_row + column, *below = own + (size_t)16 * c_row;
            const int32_t *upper = a + (size_t)row * a_row, *lower = upper + (size_t)16 * a_row;
            const int has_lower = row + 16 < rows, has_right = column + COLUMNS < columns;
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            if (adds) {
                _tile_loadd(0, own, 4 * c_row);
                if (has_right) _tile_loadd(1, own + 16, 4 * c_row);
                if (has_lower) _tile_loadd(2, below, 4 * c_row);
                if (has_lower && has_right) _tile_loadd(3, below + 16, 4 * c_row);
            }
            for (int k = 0; k < depth; k += 16) {
                _tile_loadd(4, upper + k, 4 * a_row);
                _tile_loadd(6, b + (size_t)k * COLUMNS, 64);
                _tile_dpbf16ps(0, 4, 6);
                if (has_lower) {
                    _tile_loadd(5, lower + k, 4 * a_row);
                    _tile_dpbf16ps(2, 5, 6);
                }
                if (!has_right) continue;
                _tile_loadd(7, b + (size_t)(depth + k) * COLUMNS, 64);
                _tile_dpbf16ps(1, 4, 7);
                if (has_lower) _tile_dpbf16ps(3, 5, 7);
            }
            _tile_stored(0, own, 4 * c_row);
            if (has_right) _tile_stored(1, own + 16, 4 * c_row);
            if (has_lower) _tile_stored(2, below, 4 * c_row);
            if (has_lower && has_right) _tile_stored(3, below + 16, 4 * c_row);
        }
}

/* Each thread says once what its tile registers look like, before the first of its tiles, and leaves them at the end. */
TILES static void begin_tiles(int kind) {
    if (kind != AMX) return;
    struct {
        uint8_t palette, start, unused[14];
        uint16_t width[16];
        uint8_t rows[16];
    } __attribute__((packed)) shapes = {.palette = 1};
    for (int i = 0; i < 8; i++) shapes.width[i] = 64, shapes.rows[i] = 16;
    __asm__ volatile("" : : "r"(&shapes) : "memory"); /* as WRITTEN */
    _tile_loadconfig(&shapes);
}

TILES static void end_tiles(int kind) {
    if (kind == AMX) _tile_release();
}

#endif
#else
static void begin_tiles(int kind) { (void)kind; }
static void end_tiles(int kind) { (void)kind; }
#endif /* __AVX2__ */

static void tile(int kind, const void *a, int rows, int depth, const void *b, int columns, float *c, int adds) {
    switch (kind) {
#ifdef __AVX2__
        case AMX: tile_amx(a, depth / 2, rows, depth / 2, b, columns, columns, c, adds); break;
        case AVX512_BF16: tile_pairs(a, rows, depth / 2, b, columns, c, adds); break;
        case AVX512: tile_avx512(a, rows, depth, b, columns, c, adds); break;
#endif
        default: tile_eights(a, rows, depth, b, columns, c, adds);
    }
}
