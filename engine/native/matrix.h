/* Products of few-bit matrices with one row of activations. */

#pragma once
#include <math.h>
#include "model.h"
#include "vector.h"

enum { OUTPUTS = 32 }; /* rows of a matrix that a thread takes at a time */

/* Eight of the columns of a stretch. Their codes stay where they are in their words, and so count 16 ** k times:
   `prepare` made up for that. The highest four bits would be a sign and are moved down. */
INLINE __m256 eight_columns(__m256i codes, int k, const float *x, __m256 sum) {
    __m256i own = k < 7 ? _mm256_and_si256(codes, _mm256_set1_epi32(15 << (4 * k))) : _mm256_srli_epi32(codes, 28);
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(own), _mm256_loadu_ps(x + 8 * k), sum);
}

INLINE float int4_row(const Matrix *matrix, int row, const float *x, const float *sums) {
    const int num_words = words(matrix->columns);
    const uint32_t *codes = (const uint32_t *)matrix->codes + (size_t)row * matrix->columns / 8;
    const uint32_t *scales = (const uint32_t *)matrix->scales + (size_t)row * num_words;
    const __m256 zero = _mm256_setzero_ps(), upper = _mm256_castsi256_ps(_mm256_set1_epi32((int)0xffff0000));
    __m256 first = zero, second = zero, least = zero;
    for (int column = 0; column < matrix->columns; column += STRETCH) {
        __m256i all = _mm256_loadu_si256((const __m256i *)(codes + column / 8));
        __m256 a = zero, b = zero;
        for (int k = 0; k < 4; k++) {
            a = eight_columns(all, k, x + column, a);
            b = eight_columns(all, k + 4, x + column, b);
        }
        const float *scale = (const float *)(scales + column / GROUP);
        first = _mm256_fmadd_ps(a, _mm256_and_ps(upper, _mm256_broadcast_ss(scale)), first);
        second = _mm256_fmadd_ps(b, _mm256_and_ps(upper, _mm256_broadcast_ss(scale + 1)), second);
    }
    for (int group = 0; group < num_words; group += 8) {
        __m256i both = _mm256_loadu_si256((const __m256i *)(scales + group));
        __m256 scale = _mm256_and_ps(upper, _mm256_castsi256_ps(both));
        __m256 zero_point = _mm256_castsi256_ps(_mm256_slli_epi32(both, 16));
        __m256 of_code_0 = _mm256_fnmadd_ps(_mm256_set1_ps(8.0f), scale, zero_point);
        least = _mm256_fmadd_ps(of_code_0, _mm256_loadu_ps(sums + group), least);
    }
    return sum8(_mm256_add_ps(_mm256_add_ps(first, second), least));
}

INLINE float int8_row(const Matrix *matrix, int row, const float *x) {
    const int8_t *codes = (const int8_t *)matrix->codes + (size_t)row * matrix->columns;
    __m256 a = _mm256_setzero_ps(), b = a;
    for (int column = 0; column < matrix->columns; column += 16) {
        a = _mm256_fmadd_ps(int8_to_fp32(codes + column), _mm256_loadu_ps(x + column), a);
        b = _mm256_fmadd_ps(int8_to_fp32(codes + column + 8), _mm256_loadu_ps(x + column + 8), b);
    }
    return sum8(_mm256_add_ps(a, b)) * ((const float *)matrix->scales)[row];
}

INLINE float row_times(const Matrix *matrix, int row, const Scratch *s) {
    float sum = matrix->bits == 4 ? int4_row(matrix, row, s->x, s->sums) : int8_row(matrix, row, s->x);
    return matrix->bias ? sum + matrix->bias[row] : sum;
}

/* Make `x` ready for products with `matrix`: padded with zeros, for int4 scaled and with the sums of its groups. Each
   thread its own. */
static void prepare(const Matrix *matrix, const float *x, int columns, Scratch *s) {
    if (x != s->x) memcpy(s->x, x, sizeof(float) * columns);
    memset(s->x + columns, 0, sizeof(float) * (padded(columns) - columns));
    if (matrix->bits != 4) return;
    memset(s->sums, 0, sizeof(float) * words(matrix->columns));
    const float scales[] = {1, 0x1p-4f, 0x1p-8f, 0x1p-12f, 0x1p-16f, 0x1p-20f, 0x1p-24f, 1};
    for (int column = 0; column < matrix->columns; column += GROUP) {
        __m256 sum = _mm256_setzero_ps();
        for (int i = 0; i < GROUP; i += 8) {
            float *eight = s->x + column + i;
            const __m256 own = _mm256_loadu_ps(eight);
            sum = _mm256_add_ps(sum, own);
            _mm256_storeu_ps(eight, _mm256_mul_ps(own, _mm256_set1_ps(scales[(column + i) / 8 % 8])));
        }
        s->sums[column / GROUP] = sum8(sum);
    }
}

/* out = matrix x, or out += matrix x. By all threads. */
static void multiply(const Matrix *matrix, const Scratch *s, float *out, int adds) {
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < matrix->rows; start += OUTPUTS)
        for (int row = start; row < start + OUTPUTS && row < matrix->rows; row++)
            out[row] = (adds ? out[row] : 0.0f) + row_times(matrix, row, s);
}

/* acted = silu(gate x) * (up x), gate and up one matrix below the other, each a multiple of 8. By all threads. */
static void multiply_gated(const Matrix *matrix, const Scratch *s, float *acted) {
    const int inner = matrix->rows / 2;
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < inner; start += 8) {
        float gate[8], up[8];
        for (int i = 0; i < 8; i++) gate[i] = row_times(matrix, start + i, s);
        for (int i = 0; i < 8; i++) up[i] = row_times(matrix, inner + start + i, s);
        _mm256_storeu_ps(acted + start, _mm256_mul_ps(silu8(_mm256_loadu_ps(gate)), _mm256_loadu_ps(up)));
    }
}
