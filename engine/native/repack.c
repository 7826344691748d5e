/* From the blocks of a GGUF file to the codes and scales of `Matrix`. What the blocks look like:
   https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h. `engine/gguf/blocks.py` does the same in numpy.

   Nothing is rounded: codes and scales are moved, and never computed anew. */

#include "blocks.h"
#include "model.h"

/* One block, taken apart: its codes; scales and minimums as `kind` says, of each group. Codes of 4 bits that the file has
   as they are stay there, in `nibbles`: `half` columns in the lower bits of so many bytes, and the next ones in the upper
   bits of the same. Else that is null. */
typedef struct {
    uint8_t codes[256];
    const uint8_t *nibbles;
    int half;
    int8_t scales[16], mins[16];
    uint16_t super, super_min;
} Block;

static const int8_t uneven[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* Codes of 4 bits: the first half in the lower bits. */
INLINE void take_nibbles(const uint8_t *from, int half, uint8_t *to) {
    for (int i = 0; i < half; i++) to[i] = from[i] & 15, to[i + half] = from[i] >> 4;
}

INLINE void by_table(uint8_t *codes, int count) {
    for (int i = 0; i < count; i++) codes[i] = (uint8_t)uneven[codes[i]];
}

/* The fifth bit of 32 codes. */
INLINE void fifth_bits(const uint8_t *bits, uint8_t *codes, int less) {
    for (int i = 0; i < 32; i++) codes[i] = (uint8_t)((codes[i] | (bits[i / 8] >> i % 8 & 1) << 4) - less);
}

INLINE void six_bits(const uint8_t *from, Block *b) {
    const SixBits six = six_bits_of(from);
    memcpy(b->scales, &six.scales, 8);
    memcpy(b->mins, &six.mins, 8);
}

INLINE void read_q2(const uint8_t *from, Block *b) {
    for (int i = 0; i < 16; i++) b->scales[i] = from[i] & 15, b->mins[i] = (int8_t)(from[i] >> 4);
    for (int i = 0; i < 256; i++) b->codes[i] = from[16 + i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
    b->super = half_at(from + 80), b->super_min = negative(half_at(from + 82));
}

INLINE void read_q3(const uint8_t *from, Block *b) {
    for (int i = 0; i < 256; i++) {
        const int low = from[32 + i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
        b->codes[i] = (uint8_t)(low | (from[i % 32] >> i / 32 & 1) << 2);
    }
    const uint8_t *scales = from + 96;
    for (int i = 0; i < 16; i++) {
        const int low = scales[i % 8] >> i / 8 * 4 & 15, high = scales[8 + i % 4] >> i / 4 * 2 & 3;
        b->scales[i] = (int8_t)((low | high << 4) - 32);
    }
    b->super = half_at(from + 108);
}

INLINE void read_q4(const uint8_t *from, Block *b) {
    b->super = half_at(from), b->super_min = negative(half_at(from + 2));
    six_bits(from + 4, b);
    b->nibbles = from + 16, b->half = 32;
}

INLINE void read_q5(const uint8_t *from, Block *b) {
    b->super = half_at(from), b->super_min = negative(half_at(from + 2));
    six_bits(from + 4, b);
    for (int i = 0; i < 4; i++) take_nibbles(from + 48 + 32 * i, 32, b->codes + 64 * i);
    for (int i = 0; i < 256; i++) b->codes[i] |= (uint8_t)((from[16 + i % 32] >> i / 32 & 1) << 4);
}

INLINE void read_q6(const uint8_t *from, Block *b) {
    for (int i = 0; i < 256; i++) {
        const int low = from[i / 128 * 64 + i % 64] >> i / 64 % 2 * 4 & 15;
        const int high = from[128 + i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
        b->codes[i] = (uint8_t)((low | high << 4) - 32);
    }
    memcpy(b->scales, from + 192, 16);
    b->super = half_at(from + 208);
}

INLINE void read_iq4_xs(const uint8_t *from, Block *b) {
    b->super = half_at(from);
    for (int i = 0; i < 8; i++) {
        const int low = from[4 + i / 2] >> i % 2 * 4 & 15, high = half_at(from + 2) >> 2 * i & 3;
        b->scales[i] = (int8_t)((low | high << 4) - 32);
        take_nibbles(from + 8 + 16 * i, 16, b->codes + 32 * i);
    }
    by_table(b->codes, 256);
}

/* A block of one type; returns its bytes. */
INLINE int read_block(int type, const uint8_t *from, Block *b) {
    b->nibbles = 0;
    switch (type) {
    case Q2_K: read_q2(from, b); return 84;
    case Q3_K: read_q3(from, b); return 110;
    case Q4_K: read_q4(from, b); return OF_Q4_K;
    case Q5_K: read_q5(from, b); return 176;
    case Q6_K: read_q6(from, b); return 210;
    case IQ4_XS: read_iq4_xs(from, b); return 136;
    }
    b->super = half_at(from);
    switch (type) {
    case Q4_0: b->nibbles = from + 2, b->half = 16; return OF_Q4_0;
    case IQ4_NL: take_nibbles(from + 2, 16, b->codes); by_table(b->codes, 32); return 18;
    case Q4_1: b->super_min = half_at(from + 2); b->nibbles = from + 4, b->half = 16; return 20;
    case Q5_0: take_nibbles(from + 6, 16, b->codes); fifth_bits(from + 2, b->codes, 16); return 22;
    case Q5_1:
        b->super_min = half_at(from + 2);
        take_nibbles(from + 8, 16, b->codes);
        fifth_bits(from + 4, b->codes, 0);
        return 24;
    default: memcpy(b->codes, from + 2, 32); return OF_Q8_0;
    }
}

/* The lower or upper four bits of the bytes j, j + 8, ... of `count` eights, as codes of the eights from `k` on. */
INLINE uint32_t lower(const uint8_t *from, int j, int k, int count) {
    uint32_t word = 0;
    for (int i = 0; i < count; i++) word |= (uint32_t)(from[8 * i + j] & 15) << bit_of(k + i);
    return word;
}

INLINE uint32_t upper(const uint8_t *from, int j, int k, int count) {
    uint32_t word = 0;
    for (int i = 0; i < count; i++) word |= (uint32_t)(from[8 * i + j] >> 4) << bit_of(k + i);
    return word;
}

/* The codes of the first 32 columns of a stretch in a word, or those of the second, which come later. */
INLINE void half_word(uint32_t *word, uint32_t bits, int is_second) { *word = is_second ? *word | bits << bit_of(4) : bits; }

/* Codes that lie in `Block.nibbles`: 32 columns, or four stretches. */
INLINE void move_nibbles(const Block *b, uint32_t *words, int is_second) {
    const uint8_t *from = b->nibbles;
    if (b->half == 16)
        for (int j = 0; j < 8; j++) half_word(words + j, lower(from, j, 0, 2) | upper(from, j, 2, 2), is_second);
    else
        for (int i = 0; i < 4; i++, from += 32, words += 8)
            for (int j = 0; j < 8; j++) words[j] = lower(from, j, 0, 4) | upper(from, j, 4, 4);
}

/* `count` codes of one row from column `at` on, a multiple of 32. */
INLINE void write_codes(const Matrix *m, int row, int at, const Block *b, int count) {
    if (m->bits == 8) {
        memcpy((uint8_t *)m->codes + (size_t)row * m->columns + at, b->codes, count);
        return;
    }
    uint32_t *words = (uint32_t *)m->codes + (size_t)row * m->columns / 8 + at / STRETCH * 8;
    if (b->nibbles) {
        move_nibbles(b, words, at % STRETCH != 0);
        return;
    }
    for (int i = at; i < at + count; i += 32)
        for (int j = 0; j < 8; j++)
            half_word(words + (i / STRETCH - at / STRETCH) * 8 + j, lower(b->codes + i - at, j, 0, 4), i % STRETCH != 0);
}

INLINE void write_scales(const Matrix *m, int row, int at, const Block *b) {
    const size_t g = (size_t)row * m->groups + at / m->group, super = (size_t)row * m->groups * m->group / 256 + at / 256;
    if (m->kind == FP16) {
        ((uint16_t *)m->scales)[g] = b->super;
        if (m->mins) ((uint16_t *)m->mins)[g] = b->super_min;
        return;
    }
    memcpy((int8_t *)m->scales + g, b->scales, 256 / m->group);
    ((uint16_t *)m->supers)[super] = b->super;
    if (!m->mins) return;
    memcpy((int8_t *)m->mins + g, b->mins, 256 / m->group);
    ((uint16_t *)m->super_mins)[super] = b->super_min;
}

/* All rows of a matrix, into the arrays of `to`. `columns` are those of the file; what lies behind them in a row is left
   as it is, and must be zeros. */
EXPORT void headstart_repack(int32_t type, const uint8_t *blocks, int64_t row_bytes, int32_t columns, const Matrix *to) {
    const int count = to->kind == NESTED ? 256 : 32;
#pragma omp parallel for schedule(static)
    for (int row = 0; row < to->rows; row++) {
        const uint8_t *from = blocks + row * row_bytes;
        Block block = {{0}};
        for (int at = 0; at < columns; at += count) {
            from += read_block(type, from, &block);
            write_codes(to, row, at, &block, count);
            write_scales(to, row, at, &block);
        }
    }
}
