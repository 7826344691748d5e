/* Products of packed matrices with one row of activations. */

#pragma once
#include <math.h>
#include "groups.h"
#include "model.h"
#include "vector.h"

enum { OUTPUTS = 32, VECTORS = 2 }; /* rows of a matrix that a thread takes at a time; vectors of sums that it holds */
enum { AHEAD = 4096, LONG_ROW = 2048 }; /* bytes of codes: measured on a processor of 25 GB/s a thread */

/* One row in a vector. */
#define TARGET
#define NAME(name) name##_eights
#define V f8
#define VI i8
#define PER 1
#define JOIN(each) each[0]
#define SET set8
#define EIGHT read8
#define ADD add8
#define MUL mul8
#define FMA fma8
#define AND and8
#define SHIFT_DOWN down8
#define TO_V to_fp32
#define SPREAD spread8
#define LOAD_WORDS(from, at) words8(*(from) + (at))
#define LOAD_BYTES(from, at) int8_to_fp32(*(from) + (at))
#define SUM_UP(totals, out) write4(out, sum8x4(totals[0], totals[1], totals[0], totals[1]))
#include "packed_rows.h"

#ifdef __AVX2__
/* 512 bits: two rows side by side. */
WIDE INLINE __m512 both(__m256 low, __m256 high) {
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(low)), _mm256_castps_pd(high), 1));
}

WIDE INLINE __m512i words_of_two(const uint32_t *const *from, int at) {
    const __m256i low = _mm256_loadu_si256((const __m256i *)(from[0] + at));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), _mm256_loadu_si256((const __m256i *)(from[1] + at)), 1);
}

WIDE INLINE __m512 bytes_of_two(const int8_t *const *from, int at) {
    const __m128i low = _mm_loadl_epi64((const __m128i *)(from[0] + at)), high = _mm_loadl_epi64((const __m128i *)(from[1] + at));
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_unpacklo_epi64(low, high)));
}

WIDE INLINE __m256 upper(__m512 both) { return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(both), 1)); }

#define TARGET WIDE
#define NAME(name) name##_avx512
#define V __m512
#define VI __m512i
#define PER 2
#define JOIN(each) both(each[0], each[1])
#define SET _mm512_set1_ps
#define EIGHT(from) _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_loadu_pd((const double *)(from))))
#define ADD _mm512_add_ps
#define MUL _mm512_mul_ps
#define FMA _mm512_fmadd_ps
#define AND(words, mask) _mm512_and_si512(words, _mm512_set1_epi32(mask))
#define SHIFT_DOWN _mm512_srli_epi32
#define TO_V _mm512_cvtepi32_ps
#define SPREAD(all, place) _mm512_permutexvar_ps(_mm512_add_epi32(EIGHT_APART, _mm512_set1_epi32(place)), all)
#define EIGHT_APART _mm512_set_epi32(8, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0)
#define LOAD_WORDS words_of_two
#define LOAD_BYTES bytes_of_two
#define SUM_UP(totals, out)                                                                                               \
    write4(out, (f4)sum8x4(_mm512_castps512_ps256(totals[0]), upper(totals[0]), _mm512_castps512_ps256(totals[1]),        \
                           upper(totals[1])))
#include "packed_rows.h"

/* Whether products with one row take 16 numbers at a time. Python sets it before it calls anything. */
static int32_t is_wide;
#define PACKED (is_wide ? packed_avx512 : packed_eights)
#else
#define PACKED packed_eights
#endif

INLINE float full_row(const Matrix *m, int row, const float *x, int is_bf16) {
    f8 sums[4] = {set8(0.0f), set8(0.0f), set8(0.0f), set8(0.0f)};
    const size_t at = (size_t)row * m->columns;
    int column = 0;
    for (; column + 32 <= m->columns; column += 32)
        for (int i = 0; i < 4; i++)
            sums[i] = fma8(load8(m->codes, at + column + 8 * i, is_bf16), read8(x + column + 8 * i), sums[i]);
    for (; column < m->columns; column += 8)
        sums[0] = fma8(load8(m->codes, at + column, is_bf16), read8(x + column), sums[0]);
    return sum8(add8(add8(sums[0], sums[1]), add8(sums[2], sums[3])));
}

/* `count` products with rows of a matrix from `row` on, which is counted from the top of all matrices. */
static void rows_times(const Matrix *matrix, int row, int count, const Scratch *s, float *out) {
    while (count > 0) {
        int first = row;
        const Matrix *m = holding(matrix, &first);
        const int own = count < m->rows - first ? count : m->rows - first;
        if (m->bits < 16) PACKED(m, first, own, s, out);
        else
            for (int i = 0; i < own; i++) out[i] = full_row(m, first + i, s->x, m->bits == 16);
        for (int i = 0; m->bias && i < own; i++) out[i] += m->bias[first + i];
        row += own, count -= own, out += own;
    }
}

static int all_rows(const Matrix *matrix) {
    int rows = 0;
    for (; matrix; matrix = matrix->below) rows += matrix->rows;
    return rows;
}

/* Make `x` ready for products: padded with zeros, with the sums of its groups, and scaled for 4-bit codes. Each thread
   its own. */
static void prepare(const float *x, int columns, Scratch *s) {
    static const float scales[] = {1, 0x1p-4f, 0x1p-8f, 0x1p-12f, 0x1p-16f, 0x1p-20f, 0x1p-24f, 1};
    const int all = padded(columns);
    if (x != s->x) memcpy(s->x, x, sizeof(float) * columns);
    memset(s->x + columns, 0, sizeof(float) * (all - columns));
    for (int column = 0; column < all; column += 8)
        write8(s->folded + column, mul8(read8(s->x + column), set8(scales[column / 8 % 8])));
    for (int g = 0; g < all / 16; g++)
        s->sums16[g] = sum8(add8(read8(s->x + 16 * g), read8(s->x + 16 * g + 8)));
    for (int g = 0; g < all / 32; g++) s->sums32[g] = s->sums16[2 * g] + s->sums16[2 * g + 1];
}

/* out = matrix x, or out += matrix x. By all threads. */
static void multiply(const Matrix *matrix, const Scratch *s, float *out, int adds) {
    const int rows = all_rows(matrix);
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < rows; start += OUTPUTS) {
        const int count = rows - start < OUTPUTS ? rows - start : OUTPUTS;
        float own[OUTPUTS];
        rows_times(matrix, start, count, s, own);
        for (int i = 0; i < count; i++) out[start + i] = (adds ? out[start + i] : 0.0f) + own[i];
    }
}

/* acted = silu(gate x) * (up x), gate and up one matrix below the other, each a multiple of 8. By all threads. */
static void multiply_gated(const Matrix *matrix, const Scratch *s, float *acted) {
    const int inner = all_rows(matrix) / 2;
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < inner; start += OUTPUTS) {
        const int count = inner - start < OUTPUTS ? inner - start : OUTPUTS;
        float gate[OUTPUTS], up[OUTPUTS];
        rows_times(matrix, start, count, s, gate);
        rows_times(matrix, inner + start, count, s, up);
        for (int i = 0; i < count; i += 8)
            write8(acted + start + i, mul8(silu8(read8(gate + i)), read8(up + i)));
    }
}
