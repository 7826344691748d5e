/* The rows of packed matrices, and what their scales are. */

#pragma once
#include "model.h"
#include "vector.h"

/* The matrix that holds a row, which is counted from the top of all; the row becomes its own. */
INLINE const Matrix *holding(const Matrix *matrix, int *row) {
    for (; *row >= matrix->rows; matrix = matrix->below) *row -= matrix->rows;
    return matrix;
}

INLINE __m256 half8(const void *from, size_t at) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)((const uint16_t *)from + at)));
}

INLINE __m256 eight_scales(const void *numbers, const void *supers, int kind, size_t at, size_t super) {
    if (kind == FP16) return half8(numbers, at);
    if (kind == BF16) return bf16_to_fp32((const uint16_t *)numbers + at);
    return _mm256_mul_ps(int8_to_fp32((const int8_t *)numbers + at), _mm256_set1_ps(_cvtsh_ss(((const uint16_t *)supers)[super])));
}
