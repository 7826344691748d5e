/* Blocks of a GGUF file that are computed with as they lie there: Q4_0 and Q8_0, 32 columns with an fp16 scale in front of
   their codes, and Q4_K, 256 columns with eight scales and minimums. What they look like:
   https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h. A stretch of 256 columns is what is taken at a time. */

#pragma once
#include "model.h"
#include "vector.h"

enum { Q4_0 = 2, Q4_1, Q5_0 = 6, Q5_1, Q8_0, Q2_K = 10, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL = 20, IQ4_XS = 23 }; /* types, as in the file */
enum { OF_Q4_0 = 18, OF_Q8_0 = 34, OF_Q4_K = 144 }; /* bytes of a block */

INLINE int is_in_blocks(int kind) { return kind >= AS_Q4_0; }

/* Bytes of 256 columns. */
INLINE int stretch_bytes(int kind) { return kind == AS_Q4_0 ? 8 * OF_Q4_0 : kind == AS_Q8_0 ? 8 * OF_Q8_0 : OF_Q4_K; }

INLINE size_t block_row_bytes(const Matrix *m, int kind) { return (size_t)m->columns / 256 * stretch_bytes(kind); }

INLINE const uint8_t *block_row(const Matrix *m, int row, int kind) {
    return (const uint8_t *)m->codes + (m->order ? m->order[row] : row) * block_row_bytes(m, kind);
}

/* The eight scales and minimums of six bits in the twelve bytes of a Q4_K block, a byte each. */
typedef struct {
    uint64_t scales, mins;
} SixBits;

INLINE SixBits six_bits_of(const uint8_t *from) {
    uint32_t d, m, high;
    memcpy(&d, from, 4), memcpy(&m, from + 4, 4), memcpy(&high, from + 8, 4);
    const uint32_t scales = (high & 0x0f0f0f0f) | (d >> 2 & 0x30303030), mins = (high >> 4 & 0x0f0f0f0f) | (m >> 2 & 0x30303030);
    return (SixBits){(d & 0x3f3f3f3f) | (uint64_t)scales << 32, (m & 0x3f3f3f3f) | (uint64_t)mins << 32};
}

INLINE uint16_t half_at(const uint8_t *from) {
    uint16_t bits;
    memcpy(&bits, from, 2);
    return bits;
}

INLINE uint16_t negative(uint16_t half) { return half ^ 0x8000; }

/* Of the eight groups of a stretch the scales, and what code 0 stands for. */
INLINE void block_scales(const uint8_t *from, int kind, f8 *scale, f8 *least) {
    if (kind == AS_Q4_K) {
        const SixBits six = six_bits_of(from + 4);
        *scale = mul8(bytes_to_fp32(six.scales), half8(half_at(from)));
        *least = mul8(bytes_to_fp32(six.mins), half8(negative(half_at(from + 2))));
        return;
    }
    *scale = halves_apart(from, kind == AS_Q4_0 ? OF_Q4_0 : OF_Q8_0);
    *least = kind == AS_Q4_0 ? mul8(*scale, set8(-8.0f)) : set8(0.0f);
}

/* The codes of eight columns of a stretch from `column` on, a multiple of 8. */
INLINE f8 block_codes(const uint8_t *from, int column, int kind) {
    const int group = column / 32, within = column % 32;
    uint64_t bytes;
    if (kind == AS_Q8_0) return int8_to_fp32((const int8_t *)from + group * OF_Q8_0 + 2 + within);
    if (kind == AS_Q4_0) memcpy(&bytes, from + group * OF_Q4_0 + 2 + within % 16, 8);
    else memcpy(&bytes, from + 16 + group / 2 * 32 + within, 8);
    const int is_upper = kind == AS_Q4_0 ? within >= 16 : group % 2;
    return bytes_to_fp32(bytes >> (is_upper ? 4 : 0) & 0x0f0f0f0f0f0f0f0f);
}
