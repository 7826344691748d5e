/* The rows of packed matrices, and what their scales are. */

#pragma once
#include "model.h"
#include "vector.h"

/* The matrix that holds a row, which is counted from the top of all; the row becomes its own. */
INLINE const Matrix *holding(const Matrix *matrix, int *row) {
    for (; *row >= matrix->rows; matrix = matrix->below) *row -= matrix->rows;
    return matrix;
}

/* The scale of each group of one row, and what code 0 stands for. 16 zeros follow behind the last. */
typedef struct {
    float scale[MOST_GROUPS + 16], least[MOST_GROUPS + 16];
} Groups;

INLINE __m256 half8(const void *from, size_t at) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)((const uint16_t *)from + at)));
}

INLINE __m256 eight_scales(const void *numbers, const void *supers, int kind, size_t at, size_t super) {
    if (kind == FP16) return half8(numbers, at);
    if (kind == BF16) return bf16_to_fp32((const uint16_t *)numbers + at);
    return _mm256_mul_ps(int8_to_fp32((const int8_t *)numbers + at), _mm256_set1_ps(_cvtsh_ss(((const uint16_t *)supers)[super])));
}

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
