/* The numbers that packed weights stand for, written out: before many rows are multiplied with them at once. */

#include "groups.h"

/* The scale of each group of one row, and what code 0 stands for. 16 zeros follow behind the last. */
typedef struct {
    float scale[MOST_GROUPS + 16], least[MOST_GROUPS + 16];
} Groups;

INLINE void read_groups_of(const Matrix *m, int row, Groups *to, int kind) {
    const size_t at = (size_t)row * m->groups;
    const int in_super = 256 / m->group;
    const size_t super = kind == NESTED ? at / in_super : 0;
    const __m256 offset = _mm256_set1_ps((float)-m->offset), zero = _mm256_setzero_ps();
    for (int g = 0; g < m->groups; g += 8) {
        const size_t own = super + (kind == NESTED ? g / in_super : 0);
        const __m256 scale = eight_scales(m->scales, m->supers, kind, at + g, own);
        const __m256 minimum = m->mins ? eight_scales(m->mins, m->super_mins, kind, at + g, own) : zero;
        _mm256_storeu_ps(to->scale + g, scale);
        _mm256_storeu_ps(to->least + g, _mm256_fmadd_ps(scale, offset, minimum));
    }
    for (int i = 0; i < 16; i += 8) {
        _mm256_storeu_ps(to->scale + m->groups + i, zero);
        _mm256_storeu_ps(to->least + m->groups + i, zero);
    }
}

/* Each kind in a loop of its own. */
static void read_groups(const Matrix *m, int row, Groups *to) {
    if (m->kind == FP16) read_groups_of(m, row, to, FP16);
    else if (m->kind == BF16) read_groups_of(m, row, to, BF16);
    else if (m->kind == NESTED) read_groups_of(m, row, to, NESTED);
}

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

/* Rows `first` to `first + rows` of all of a matrix, as bf16 or fp32 `[rows, columns]`. Columns are a multiple of 8.
   A single row, a token's embedding, is not worth waking other threads. */
EXPORT void headstart_widen(const Matrix *matrix, int32_t first, int32_t rows, int32_t columns, void *out, int32_t is_bf16) {
#pragma omp parallel for schedule(static) if (rows > 1)
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
