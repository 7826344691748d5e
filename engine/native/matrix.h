/* Products of packed matrices with one row of activations. */

#pragma once
#include <math.h>
#include "groups.h"
#include "model.h"
#include "vector.h"

enum { OUTPUTS = 32, VECTORS = 2 }; /* rows of a matrix that a thread takes at a time; vectors of sums that it holds */
enum { AHEAD = 4096, LONG_ROW = 2048 }; /* bytes of codes: measured on a processor of 25 GB/s a thread */

#define WIDE __attribute__((target("avx512f")))

/* Whether products with one row take 16 numbers at a time. Python sets it before it calls anything. */
extern int32_t headstart_is_wide;

/* 256 bits: one row in a vector. */
#define TARGET
#define NAME(name) name##_avx2
#define V __m256
#define VI __m256i
#define PER 1
#define ZERO _mm256_setzero_ps()
#define EIGHTS _mm256_setzero_si256()
#define JOIN(each) each[0]
#define SET _mm256_set1_ps
#define SET_I _mm256_set1_epi32
#define EIGHT _mm256_loadu_ps
#define ADD _mm256_add_ps
#define MUL _mm256_mul_ps
#define FMA _mm256_fmadd_ps
#define ADD_I _mm256_add_epi32
#define AND _mm256_and_si256
#define SHIFT_DOWN _mm256_srli_epi32
#define TO_V _mm256_cvtepi32_ps
#define PICK _mm256_permutevar8x32_ps
#define LOAD_WORDS(from, at) _mm256_loadu_si256((const __m256i *)(*(from) + (at)))
#define LOAD_BYTES(from, at) int8_to_fp32(*(from) + (at))
#define SUM_UP(totals, out) _mm_storeu_ps(out, sum8x4(totals[0], totals[1], totals[0], totals[1]))
#include "packed_rows.h"
#undef TARGET
#undef NAME
#undef V
#undef VI
#undef PER
#undef ZERO
#undef EIGHTS
#undef JOIN
#undef SET
#undef SET_I
#undef EIGHT
#undef ADD
#undef MUL
#undef FMA
#undef ADD_I
#undef AND
#undef SHIFT_DOWN
#undef TO_V
#undef PICK
#undef LOAD_WORDS
#undef LOAD_BYTES
#undef SUM_UP

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
#define ZERO _mm512_setzero_ps()
#define EIGHTS _mm512_set_epi32(8, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0)
#define JOIN(each) both(each[0], each[1])
#define SET _mm512_set1_ps
#define SET_I _mm512_set1_epi32
#define EIGHT(from) _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_loadu_pd((const double *)(from))))
#define ADD _mm512_add_ps
#define MUL _mm512_mul_ps
#define FMA _mm512_fmadd_ps
#define ADD_I _mm512_add_epi32
#define AND _mm512_and_si512
#define SHIFT_DOWN _mm512_srli_epi32
#define TO_V _mm512_cvtepi32_ps
#define PICK(all, places) _mm512_permutexvar_ps(places, all)
#define LOAD_WORDS words_of_two
#define LOAD_BYTES bytes_of_two
#define SUM_UP(totals, out)                                                                                               \
    _mm_storeu_ps(out, sum8x4(_mm512_castps512_ps256(totals[0]), upper(totals[0]), _mm512_castps512_ps256(totals[1]), \
                              upper(totals[1])))
#include "packed_rows.h"

INLINE float full_row(const Matrix *m, int row, const float *x, int is_bf16) {
    __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    const size_t at = (size_t)row * m->columns;
    int column = 0;
    for (; column + 32 <= m->columns; column += 32)
        for (int i = 0; i < 4; i++)
            sums[i] = _mm256_fmadd_ps(load8(m->codes, at + column + 8 * i, is_bf16), _mm256_loadu_ps(x + column + 8 * i), sums[i]);
    for (; column < m->columns; column += 8)
        sums[0] = _mm256_fmadd_ps(load8(m->codes, at + column, is_bf16), _mm256_loadu_ps(x + column), sums[0]);
    return sum8(_mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3])));
}

/* `count` products with rows of a matrix from `row` on, which is counted from the top of all matrices. */
static void rows_times(const Matrix *matrix, int row, int count, const Scratch *s, float *out) {
    while (count > 0) {
        int first = row;
        const Matrix *m = holding(matrix, &first);
        const int own = count < m->rows - first ? count : m->rows - first;
        if (m->bits < 16) (headstart_is_wide ? packed_avx512 : packed_avx2)(m, first, own, s, out);
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
        _mm256_storeu_ps(s->folded + column, _mm256_mul_ps(_mm256_loadu_ps(s->x + column), _mm256_set1_ps(scales[column / 8 % 8])));
    for (int g = 0; g < all / 16; g++)
        s->sums16[g] = sum8(_mm256_add_ps(_mm256_loadu_ps(s->x + 16 * g), _mm256_loadu_ps(s->x + 16 * g + 8)));
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
            _mm256_storeu_ps(acted + start + i, _mm256_mul_ps(silu8(_mm256_loadu_ps(gate + i)), _mm256_loadu_ps(up + i)));
    }
}
