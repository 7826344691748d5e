/* The numbers that packed weights stand for, written out: before many rows are multiplied with them at once. */

#include "groups.h"

INLINE __m256 int4_at(const Matrix *m, int row, int column) {
    const uint32_t *words = (const uint32_t *)m->codes + (size_t)row * m->columns / 8 + column / STRETCH * 8;
    const __m128i shift = _mm_cvtsi32_si128(column % STRETCH / 8 * 4);
    const __m256i codes = _mm256_srl_epi32(_mm256_loadu_si256((const __m256i *)words), shift);
    return _mm256_cvtepi32_ps(_mm256_and_si256(codes, _mm256_set1_epi32(15)));
}

/* One row of `columns` numbers, a multiple of 8, from number `at` of `out` on. */
INLINE void widen_row(const Matrix *m, int row, int columns, void *out, size_t at, int bits, int is_bf16) {
    Groups groups;
    read_groups(m, row, &groups);
    const int8_t *codes = (const int8_t *)m->codes + (size_t)row * m->columns;
    const float one = m->kind == ROW ? ((const float *)m->scales)[row] : 0;
    for (int column = 0; column < columns; column += 8) {
        const __m256 code = bits == 4 ? int4_at(m, row, column) : int8_to_fp32(codes + column);
        const int g = m->kind == ROW ? 0 : column / m->group;
        const __m256 scale = _mm256_set1_ps(m->kind == ROW ? one : groups.scale[g]);
        const __m256 least = _mm256_set1_ps(m->kind == ROW ? 0 : groups.least[g]);
        store8(out, at + column, is_bf16, _mm256_fmadd_ps(scale, code, least));
    }
}

INLINE void copy_row(const Matrix *m, int row, int columns, void *out, size_t at, int is_bf16) {
    for (int column = 0; column < columns; column += 8)
        store8(out, at + column, is_bf16, load8(m->codes, (size_t)row * m->columns + column, m->bits == 16));
}

/* Rows `first` to `first + rows` of all of a matrix, as bf16 or fp32 `[rows, columns]`. Columns are a multiple of 8. */
EXPORT void headstart_widen(const Matrix *matrix, int32_t first, int32_t rows, int32_t columns, void *out, int32_t is_bf16) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; i++) {
        int row = first + i;
        const Matrix *m = holding(matrix, &row);
        const size_t at = (size_t)i * columns;
        if (m->bits >= 16) copy_row(m, row, columns, out, at, is_bf16);
        else if (m->bits == 4 && is_bf16) widen_row(m, row, columns, out, at, 4, 1);
        else if (m->bits == 4) widen_row(m, row, columns, out, at, 4, 0);
        else if (is_bf16) widen_row(m, row, columns, out, at, 8, 1);
        else widen_row(m, row, columns, out, at, 8, 0);
    }
}
