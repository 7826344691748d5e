/* The rows of packed matrices, and what their scales are. */

#pragma once
#include "model.h"
#include "vector.h"

/* The matrix that holds a row, which is counted from the top of all; the row becomes its own. */
INLINE const Matrix *holding(const Matrix *matrix, int *row) {
    for (; *row >= matrix->rows; matrix = matrix->below) *row -= matrix->rows;
    return matrix;
}

INLINE f8 eight_scales(const void *numbers, const void *supers, int kind, size_t at, size_t super) {
    if (kind == FP16) return fp16_to_fp32((const uint16_t *)numbers + at);
    if (kind == BF16) return bf16_to_fp32((const uint16_t *)numbers + at);
    return mul8(int8_to_fp32((const int8_t *)numbers + at), set8(half(((const uint16_t *)supers)[super])));
}
