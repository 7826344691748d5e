/* Products of packed matrices with one row of activations. */

#pragma once
#include <math.h>
#include "groups.h"
#include "model.h"
#include "vector.h"

enum { OUTPUTS = 32 }; /* rows of a matrix that a thread takes at a time */

#define WIDE __attribute__((target("avx512f")))

/* Whether products with one row take 16 numbers at a time. Python sets it before it calls anything. */
extern int32_t headstart_is_wide;

/* What all codes of 0 add up to. */
INLINE float times_least(const Matrix *m, const Groups *groups, const Scratch *s) {
    const float *sums = m->group == 16 ? s->sums16 : s->sums32;
    __m256 sum = _mm256_setzero_ps();
    const int count = m->columns / m->group;
    int g = 0;
    for (; g + 8 <= count; g += 8)
        sum = _mm256_fmadd_ps(_mm256_loadu_ps(groups->least + g), _mm256_loadu_ps(sums + g), sum);
    float rest = 0;
    for (; g < count; g++) rest += groups->least[g] * sums[g];
    return sum8(sum) + rest;
}

/* Eight of the columns of a stretch. Their codes stay where they are in their words, and so count 16 ** k times:
   `prepare` made up for that. The highest four bits would be a sign and are moved down. */
INLINE __m256 eight_columns(__m256i codes, int k, const float *x, __m256 sum) {
    __m256i own = k < 7 ? _mm256_and_si256(codes, _mm256_set1_epi32(15 << (4 * k))) : _mm256_srli_epi32(codes, 28);
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(own), _mm256_loadu_ps(x + 8 * k), sum);
}

INLINE float int4_row_by(const Matrix *m, int row, const float *x, const float *scale, int group) {
    const uint32_t *codes = (const uint32_t *)m->codes + (size_t)row * m->columns / 8;
    const __m256 zero = _mm256_setzero_ps();
    __m256 first = zero, second = zero;
    for (int column = 0; column < m->columns; column += STRETCH, scale += STRETCH / group) {
        __m256i all = _mm256_loadu_si256((const __m256i *)(codes + column / 8));
        __m256 a = zero, b = zero;
        for (int k = 0; k < 4; k++) {
            if (group == 16 && k == 2) {
                first = _mm256_fmadd_ps(a, _mm256_broadcast_ss(scale), first);
                second = _mm256_fmadd_ps(b, _mm256_broadcast_ss(scale + 2), second);
                a = b = zero;
            }
            a = eight_columns(all, k, x + column, a);
            b = eight_columns(all, k + 4, x + column, b);
        }
        first = _mm256_fmadd_ps(a, _mm256_broadcast_ss(scale + (group == 16)), first);
        second = _mm256_fmadd_ps(b, _mm256_broadcast_ss(scale + (group == 16 ? 3 : 1)), second);
    }
    return sum8(_mm256_add_ps(first, second));
}

static float int4_row(const Matrix *m, int row, const Scratch *s, const Groups *groups) {
    return m->group == 16 ? int4_row_by(m, row, s->folded, groups->scale, 16)
                          : int4_row_by(m, row, s->folded, groups->scale, 32);
}

WIDE INLINE __m512 sixteen_columns(__m512i codes, int k, const float *x, __m512 sum) {
    __m512i own = k < 7 ? _mm512_and_si512(codes, _mm512_set1_epi32(15 << (4 * k))) : _mm512_srli_epi32(codes, 28);
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(own), _mm512_loadu_ps(x + 16 * k), sum);
}

/* Two stretches at a time, side by side in one register: the scale of the left one counts for its lower half. */
WIDE INLINE __m512 both_scales(__m512 all, int left, int right) {
    return _mm512_permutexvar_ps(_mm512_mask_set1_epi32(_mm512_set1_epi32(left), 0xff00, right), all);
}

WIDE INLINE float int4_row_wide_by(const Matrix *m, int row, const Scratch *s, const Groups *groups, int group) {
    const uint32_t *codes = (const uint32_t *)m->codes + (size_t)row * m->columns / 8;
    const __m512 zero = _mm512_setzero_ps();
    __m512 first = zero, second = zero;
    for (int column = 0; column < m->columns; column += PAIR) {
        const void *words = codes + column / 8;
        const __m512i all = m->columns - column >= PAIR
                                ? _mm512_loadu_si512(words)
                                : _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)words));
        const float *x = s->folded + column, *own = groups->scale + column / group;
        /* no more than what was stored at once: the processor would wait for the rest */
        const __m512 scale = group == 16 ? _mm512_castps256_ps512(_mm256_loadu_ps(own))
                                         : _mm512_castps128_ps512(_mm_loadu_ps(own));
        __m512 a = zero, b = zero;
        for (int k = 0; k < 2; k++) a = sixteen_columns(all, k, x, a), b = sixteen_columns(all, k + 4, x, b);
        if (group == 16) {
            first = _mm512_fmadd_ps(a, both_scales(scale, 0, 4), first);
            second = _mm512_fmadd_ps(b, both_scales(scale, 2, 6), second);
            a = b = zero;
        }
        for (int k = 2; k < 4; k++) a = sixteen_columns(all, k, x, a), b = sixteen_columns(all, k + 4, x, b);
        if (group == 16) {
            first = _mm512_fmadd_ps(a, both_scales(scale, 1, 5), first);
            second = _mm512_fmadd_ps(b, both_scales(scale, 3, 7), second);
        } else {
            first = _mm512_fmadd_ps(a, both_scales(scale, 0, 2), first);
            second = _mm512_fmadd_ps(b, both_scales(scale, 1, 3), second);
        }
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(first, second));
}

WIDE static float int4_row_wide(const Matrix *m, int row, const Scratch *s, const Groups *groups) {
    return m->group == 16 ? int4_row_wide_by(m, row, s, groups, 16) : int4_row_wide_by(m, row, s, groups, 32);
}

INLINE __m256 int8_eight(const int8_t *codes, const float *x, __m256 sum) {
    return _mm256_fmadd_ps(int8_to_fp32(codes), _mm256_loadu_ps(x), sum);
}

static float int8_row(const Matrix *m, int row, const Scratch *s, const Groups *groups) {
    const int8_t *codes = (const int8_t *)m->codes + (size_t)row * m->columns;
    const __m256 zero = _mm256_setzero_ps();
    __m256 first = zero, second = zero;
    if (m->kind == ROW) {
        for (int column = 0; column < m->columns; column += 16) {
            first = int8_eight(codes + column, s->x + column, first);
            second = int8_eight(codes + column + 8, s->x + column + 8, second);
        }
        return sum8(_mm256_add_ps(first, second)) * ((const float *)m->scales)[row];
    }
    for (int column = 0; column < m->columns; column += 32) {
        const float *scale = groups->scale + column / m->group;
        __m256 a = int8_eight(codes + column, s->x + column, zero);
        __m256 b = int8_eight(codes + column + 16, s->x + column + 16, zero);
        a = int8_eight(codes + column + 8, s->x + column + 8, a);
        b = int8_eight(codes + column + 24, s->x + column + 24, b);
        first = _mm256_fmadd_ps(a, _mm256_broadcast_ss(scale), first);
        second = _mm256_fmadd_ps(b, _mm256_broadcast_ss(scale + (m->group == 16)), second);
    }
    return sum8(_mm256_add_ps(first, second));
}

WIDE INLINE __m512 int8_sixteen(const int8_t *codes, const float *x, __m512 sum) {
    const __m512i own = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)codes));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(own), _mm512_loadu_ps(x), sum);
}

WIDE static float int8_row_wide(const Matrix *m, int row, const Scratch *s, const Groups *groups) {
    const int8_t *codes = (const int8_t *)m->codes + (size_t)row * m->columns;
    const __m512 zero = _mm512_setzero_ps();
    __m512 first = zero, second = zero;
    if (m->kind == ROW) {
        for (int column = 0; column < m->columns; column += 32) {
            first = int8_sixteen(codes + column, s->x + column, first);
            second = int8_sixteen(codes + column + 16, s->x + column + 16, second);
        }
        return _mm512_reduce_add_ps(_mm512_add_ps(first, second)) * ((const float *)m->scales)[row];
    }
    for (int column = 0; column < m->columns; column += 32) {
        const float *scale = groups->scale + column / m->group;
        const __m512 a = int8_sixteen(codes + column, s->x + column, zero);
        const __m512 b = int8_sixteen(codes + column + 16, s->x + column + 16, zero);
        first = _mm512_fmadd_ps(a, _mm512_set1_ps(*scale), first);
        second = _mm512_fmadd_ps(b, _mm512_set1_ps(scale[m->group == 16]), second);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(first, second));
}

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

static float packed_row(const Matrix *m, int row, const Scratch *s) {
    Groups groups;
    if (m->kind != ROW) read_groups(m, row, &groups);
    const float sum = m->bits == 4 ? (headstart_is_wide ? int4_row_wide : int4_row)(m, row, s, &groups)
                                   : (headstart_is_wide ? int8_row_wide : int8_row)(m, row, s, &groups);
    return m->kind != ROW && (m->mins || m->offset) ? sum + times_least(m, &groups, s) : sum;
}

static float row_times(const Matrix *matrix, int row, const Scratch *s) {
    const Matrix *m = holding(matrix, &row);
    const float sum = m->bits == 16   ? full_row(m, row, s->x, 1)
                      : m->bits == 32 ? full_row(m, row, s->x, 0)
                                      : packed_row(m, row, s);
    return m->bias ? sum + m->bias[row] : sum;
}

static int all_rows(const Matrix *matrix) {
    int rows = 0;
    for (; matrix; matrix = matrix->below) rows += matrix->rows;
    return rows;
}

/* Make `x` ready for products: padded with zeros, with the sums of its groups, and for 4-bit codes, scaled and (where two
   stretches are read side by side) in their order. Each thread its own. */
static void prepare(const float *x, int columns, Scratch *s) {
    static const float scales[] = {1, 0x1p-4f, 0x1p-8f, 0x1p-12f, 0x1p-16f, 0x1p-20f, 0x1p-24f, 1};
    const int all = padded(columns);
    if (x != s->x) memcpy(s->x, x, sizeof(float) * columns);
    memset(s->x + columns, 0, sizeof(float) * (all - columns));
    for (int column = 0; column < all; column += 8) {
        const int k = column / 8 % 8, side = column / STRETCH % 2;
        float *to = s->folded + (headstart_is_wide ? column / PAIR * PAIR + 16 * k + 8 * side : column);
        _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_loadu_ps(s->x + column), _mm256_set1_ps(scales[k])));
    }
    for (int g = 0; g < all / 16; g++)
        s->sums16[g] = sum8(_mm256_add_ps(_mm256_loadu_ps(s->x + 16 * g), _mm256_loadu_ps(s->x + 16 * g + 8)));
    for (int g = 0; g < all / 32; g++) s->sums32[g] = s->sums16[2 * g] + s->sums16[2 * g + 1];
}

/* out = matrix x, or out += matrix x. By all threads. */
static void multiply(const Matrix *matrix, const Scratch *s, float *out, int adds) {
    const int rows = all_rows(matrix);
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < rows; start += OUTPUTS)
        for (int row = start; row < start + OUTPUTS && row < rows; row++)
            out[row] = (adds ? out[row] : 0.0f) + row_times(matrix, row, s);
}

/* acted = silu(gate x) * (up x), gate and up one matrix below the other, each a multiple of 8. By all threads. */
static void multiply_gated(const Matrix *matrix, const Scratch *s, float *acted) {
    const int inner = all_rows(matrix) / 2;
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < inner; start += 8) {
        float gate[8], up[8];
        for (int i = 0; i < 8; i++) gate[i] = row_times(matrix, start + i, s);
        for (int i = 0; i < 8; i++) up[i] = row_times(matrix, inner + start + i, s);
        _mm256_storeu_ps(acted + start, _mm256_mul_ps(silu8(_mm256_loadu_ps(gate)), _mm256_loadu_ps(up)));
    }
}
