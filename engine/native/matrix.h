/* Products of matrices with the activations of a few tokens. */

#pragma once
#include <math.h>
#include "blocks.h"
#include "groups.h"
#include "model.h"
#include "vector.h"

enum { OUTPUTS = 32, VECTORS = 2 }; /* rows of a matrix that a thread takes at a time; vectors of sums of each token */
enum { TOGETHER = 4 };              /* tokens for which codes are taken out of memory once */
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
#define LOAD_BYTES(from, at) bytes16(*(from) + (at))
#define LOAD_UNSIGNED(from, at) unsigned16(*(from) + (at))
#define UPPER_NIBBLES upper_nibbles8
#define PAIRS(from) words8((const uint32_t *)(from))
#define MULTIPLY pairwise8
#define ADD_WORDS add_words8
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

WIDE INLINE __m512i bytes_of_two(const int8_t *const *from, int at) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(from[0] + at)), high = _mm_loadu_si128((const __m128i *)(from[1] + at));
    return _mm512_cvtepi8_epi16(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
}

WIDE INLINE __m512i unsigned_of_two(const uint8_t *const *from, int at) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(from[0] + at)), high = _mm_loadu_si128((const __m128i *)(from[1] + at));
    return _mm512_cvtepu8_epi16(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
}

#define TARGET WIDE
#define NAME(name) name##_avx512
#define V __m512
#define VI __m512i
#define PER 2
#define JOIN(each) both(each[0], each[1])
#define SET _mm512_set1_ps
#define EIGHT eight_twice
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
#define LOAD_UNSIGNED unsigned_of_two
#define UPPER_NIBBLES(bytes) _mm512_srli_epi16(bytes, 4)
#define PAIRS(from) _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(from)))
#define MULTIPLY _mm512_madd_epi16
#define ADD_WORDS _mm512_add_epi32
#define SUM_UP(totals, out)                                                                                               \
    write4(out, (f4)sum8x4(_mm512_castps512_ps256(totals[0]), upper(totals[0]), _mm512_castps512_ps256(totals[1]),        \
                           upper(totals[1])))
#include "packed_rows.h"

#define PACKED (is_wide ? packed_avx512 : packed_eights)
#else
#define PACKED packed_eights
#endif

/* A row of weights in full for some tokens, as many as the compiler knows. */
INLINE void full_row(const Matrix *m, int row, const Scratch *s, int tokens, int is_bf16, float *out, size_t apart) {
    f8 sums[2][4];
    const size_t at = (size_t)row * m->columns;
    int column = 0;
    for (int t = 0; t < tokens; t++)
        for (int i = 0; i < 4; i++) sums[t][i] = set8(0.0f);
    for (; column + 32 <= m->columns; column += 32)
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const f8 own = load8(m->codes, at + column + 8 * i, is_bf16);
#pragma GCC unroll 2
            for (int t = 0; t < tokens; t++) sums[t][i] = fma8(own, read8(s[t].x + column + 8 * i), sums[t][i]);
        }
    for (; column < m->columns; column += 8)
        for (int t = 0; t < tokens; t++)
            sums[t][0] = fma8(load8(m->codes, at + column, is_bf16), read8(s[t].x + column), sums[t][0]);
    for (int t = 0; t < tokens; t++)
        out[t * apart] = sum8(add8(add8(sums[t][0], sums[t][1]), add8(sums[t][2], sums[t][3])));
}

INLINE void full_rows(const Matrix *m, int first, int count, const Scratch *s, int tokens, int is_bf16, float *out,
                      size_t apart) {
    for (int i = 0; i < count; i++) {
        int done = 0;
        for (; done + 2 <= tokens; done += 2) full_row(m, first + i, s + done, 2, is_bf16, out + done * apart + i, apart);
        if (done < tokens) full_row(m, first + i, s + done, 1, is_bf16, out + done * apart + i, apart);
    }
}

/* `count` products of `tokens` tokens with rows of a matrix from `row` on, which is counted from the top of all matrices.
   Those of one token are `apart` numbers behind those of the one before. */
static void rows_times(const Matrix *matrix, int row, int count, const Scratch *s, int tokens, float *out, size_t apart) {
    while (count > 0) {
        int first = row;
        const Matrix *m = holding(matrix, &first);
        const int own = count < m->rows - first ? count : m->rows - first;
        if (m->bits < 16) PACKED(m, first, own, s, tokens, out, apart);
        else if (m->bits == 16) full_rows(m, first, own, s, tokens, 1, out, apart);
        else full_rows(m, first, own, s, tokens, 0, out, apart);
        for (int t = 0; m->bias && t < tokens; t++)
            for (int i = 0; i < own; i++) out[t * apart + i] += m->bias[first + i];
        row += own, count -= own, out += own;
    }
}

static int all_rows(const Matrix *matrix) {
    int rows = 0;
    for (; matrix; matrix = matrix->below) rows += matrix->rows;
    return rows;
}

/* The 32 numbers of `x` from group `g` of 32 on as whole numbers of 16 bits, which count in a step that the largest of them
   sets: they lose as much as 16 bits do. Sums are those of what is left, so that what a code 0 stands for takes nothing
   away that is not there. Where a number is NaN or infinite, the step is NaN, and so is every product. */
static void round_to_16(int g, Scratch *s) {
    const float *x = s->x + 32 * g;
    int16_t *whole = s->whole + 32 * g, *as_codes = s->as_codes + 32 * g;
    f8 most = set8(0.0f), odd = most;
    float rounded[32];
    for (int i = 0; i < 32; i += 8) {
        const f8 own = read8(x + i);
        most = higher8(most, higher8(own, sub8(set8(0.0f), own)));
        odd = fma8(own, set8(0.0f), odd);
    }
    const float largest = max8(most), inverse = largest > 1e-30f ? 32767 / largest : 0, step = largest / 32767 + sum8(odd);
    for (int i = 0; i < 32; i += 8) write8(rounded + i, round8(mul8(read8(x + i), set8(inverse))));
    for (int i = 0; i < 32; i++) whole[i] = (int16_t)(int32_t)rounded[i];
    for (int i = 0; i < 32; i += 16)
        for (int j = 0; j < 8; j++) as_codes[i + 2 * j] = whole[i + j], as_codes[i + 2 * j + 1] = whole[i + 8 + j];
    s->steps32[g] = s->steps16[2 * g] = s->steps16[2 * g + 1] = step;
    for (int i = 0; i < 2; i++)
        s->sums16[2 * g + i] = step * sum8(add8(read8(rounded + 16 * i), read8(rounded + 16 * i + 8)));
    s->sums32[g] = s->sums16[2 * g] + s->sums16[2 * g + 1];
}

/* Make `x` ready for products: padded with zeros, and in whole numbers with their sums. Each thread its own. */
static void prepare(const float *x, int columns, Scratch *s) {
    const int all = padded(columns);
    if (x != s->x) memcpy(s->x, x, sizeof(float) * columns);
    memset(s->x + columns, 0, sizeof(float) * (all - columns));
    for (int g = 0; g < all / 32; g++) round_to_16(g, s);
}

/* out = matrix x, or, where it is not 0, out += scale * matrix x, for each of `tokens`; `out` is
   `[tokens, rows of the matrix]`. By all threads. */
static void multiply(const Matrix *matrix, const Scratch *s, int tokens, float *out, float scale) {
    const int rows = all_rows(matrix);
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < rows; start += OUTPUTS) {
        const int count = rows - start < OUTPUTS ? rows - start : OUTPUTS;
        float own[MOST_TOKENS][OUTPUTS];
        rows_times(matrix, start, count, s, tokens, own[0], OUTPUTS);
        for (int t = 0; t < tokens; t++) {
            float *to = out + (size_t)t * rows + start;
            for (int i = 0; i < count; i++) to[i] = scale == 0.0f ? own[t][i] : to[i] + scale * own[t][i];
        }
    }
}

INLINE f8 activated8(f8 x, int activation) {
    return activation == SILU ? silu8(x) : activation == GELU ? gelu8(x) : gelu_tanh8(x);
}

/* acted = activation(gate x) * (up x) of each token, gate and up one matrix below the other, each a multiple of 8. By all
   threads. */
static void multiply_gated(const Matrix *matrix, int activation, const Scratch *s, int tokens) {
    const int inner = all_rows(matrix) / 2;
#pragma omp for schedule(dynamic, 1)
    for (int start = 0; start < inner; start += OUTPUTS) {
        const int count = inner - start < OUTPUTS ? inner - start : OUTPUTS;
        float gate[MOST_TOKENS][OUTPUTS], up[MOST_TOKENS][OUTPUTS];
        rows_times(matrix, start, count, s, tokens, gate[0], OUTPUTS);
        rows_times(matrix, inner + start, count, s, tokens, up[0], OUTPUTS);
        for (int t = 0; t < tokens; t++)
            for (int i = 0; i < count; i += 8)
                write8(s[t].acted + start + i, mul8(activated8(read8(gate[t] + i), activation), read8(up[t] + i)));
    }
}
