/* The numbers that packed weights stand for, written out: before many rows are multiplied with them at once. */

#include "blocks.h"
#include "groups.h"

enum { PIECE_COLUMNS = 256 }; /* of a row that are written out at a time: whole groups, eight or sixteen */

/* The scale of each group of a piece, and what code 0 stands for. */
typedef struct {
    float scale[PIECE_COLUMNS / 16], least[PIECE_COLUMNS / 16];
} Groups;

INLINE void read_groups_of(const Matrix *m, int row, int first, Groups *to, int kind, int group) {
    const f8 offset = set8((float)-m->offset), zero = set8(0.0f);
    const int from = first / group, left = m->groups - from, in_piece = PIECE_COLUMNS / group;
    for (int g = 0; g < in_piece && g < left; g += 8) {
        const size_t at = (size_t)row * m->groups + from + g, super = kind == NESTED ? at / in_piece : 0;
        const f8 scale = eight_scales(m->scales, m->supers, kind, at, super);
        const f8 minimum = m->mins ? eight_scales(m->mins, m->super_mins, kind, at, super) : zero;
        write8(to->scale + g, scale);
        write8(to->least + g, fma8(scale, offset, minimum));
    }
}

/* Where the codes of a piece of a row begin, whose first column is `first`, or its blocks, where they are in blocks. */
INLINE const void *piece_of(const Matrix *m, int row, int first, int bits, int kind) {
    if (is_in_blocks(kind)) return block_row(m, row, kind) + first / PIECE_COLUMNS * stretch_bytes(kind);
    return (const uint8_t *)m->codes + ((size_t)row * m->columns + first) / 8 * bits;
}

/* Of a piece whose first column is `first`. With ROW all columns have one scale. */
INLINE void read_groups(const Matrix *m, int row, int first, Groups *to, int kind, int group) {
    if (is_in_blocks(kind)) {
        f8 scale, least;
        block_scales(piece_of(m, row, first, 0, kind), kind, &scale, &least);
        write8(to->scale, scale);
        write8(to->least, least);
    } else if (kind == ROW)
        for (int g = 0; g < PIECE_COLUMNS / 32; g++) to->scale[g] = ((const float *)m->scales)[row], to->least[g] = 0.0f;
    else read_groups_of(m, row, first, to, kind, group);
}

/* What is written out: `rows` rows from `row` on, and of each `columns` columns from `first` on, a multiple of PIECE_COLUMNS.
   Each row begins `apart` numbers behind the one before. `next_row` and `next` are what is wanted after that. */
typedef struct {
    int row, rows, first, columns;
    size_t apart;
    int next_row, next;
} Part;

/* Have a piece on its way to the nearest cache, of a row that there is. Of a whole row that is its beginning: the rest follows. */
INLINE void fetch_piece(const Matrix *m, int row, int first, int bits, int kind, int group) {
    const char *from = piece_of(m, row, first, bits, kind);
    const int size = is_in_blocks(kind) ? stretch_bytes(kind) : PIECE_COLUMNS / 8 * bits;
    for (int at = 0; at < size; at += 64) __builtin_prefetch(from + at);
    __builtin_prefetch(from + size - 1);
    if (is_in_blocks(kind) || kind == ROW) return;
    const size_t at = ((size_t)row * m->groups + first / group) * (kind == NESTED ? 1 : 2);
    __builtin_prefetch((const char *)m->scales + at);
    if (m->mins) __builtin_prefetch((const char *)m->mins + at);
}

/* The codes of eight columns of a piece, which begins at `from`. */
INLINE f8 codes_at(const void *from, int column, int bits, int kind) {
    if (is_in_blocks(kind)) return block_codes(from, column, kind);
    if (bits == 8) return int8_to_fp32((const int8_t *)from + column);
    return to_fp32(and8(down8(words8((const uint32_t *)from + column / STRETCH * 8), bit_of(column % STRETCH / 8)), 15));
}

/* The columns of a piece from `column` on up to `end`, a multiple of 8, whose numbers are in `out` from `at` on. */
INLINE void widen_piece(const void *from, const Groups *groups, int column, int end, void *out, size_t at, int bits, int kind, int group,
                        int is_bf16) {
    for (; column < end; column += 8) {
        const int g = column / group;
        const f8 codes = codes_at(from, column, bits, kind);
        store8(out, at + column, is_bf16, fma8(set8(groups->scale[g]), codes, set8(groups->least[g])));
    }
}

/* A part of a matrix in few bits; each kind is compiled by itself. */
INLINE void widen_by(const Matrix *m, const Part *part, void *out, size_t at, int bits, int kind, int group, int is_bf16) {
    for (int i = 0; i < part->rows; i++, at += part->apart)
        for (int done = 0; done < part->columns; done += PIECE_COLUMNS) {
            const int left = part->columns - done, first = part->first + done;
            Groups groups;
            read_groups(m, part->row + i, first, &groups, kind, group);
            widen_piece(piece_of(m, part->row + i, first, bits, kind), &groups, 0, left < PIECE_COLUMNS ? left : PIECE_COLUMNS, out,
                        at + done, bits, kind, group, is_bf16);
        }
}

INLINE void copy(const Matrix *m, const Part *part, void *out, size_t at, int is_bf16) {
    for (int i = 0; i < part->rows; i++, at += part->apart) {
        const size_t from = (size_t)(part->row + i) * m->columns + part->first;
        if (m->bits == 16 && is_bf16) memcpy((uint16_t *)out + at, (const uint16_t *)m->codes + from, 2 * part->columns);
        else
            for (int column = 0; column < part->columns; column += 8)
                store8(out, at + column, is_bf16, load8(m->codes, from + column, m->bits == 16));
    }
}

/* WIDEN for each kind there is, with its bits, and how many columns have one scale. */
#define OF_EACH_KIND(m, WIDEN) \
    switch (m->kind) { \
        case AS_Q4_0: WIDEN(4, AS_Q4_0, 32); break; \
        case AS_Q4_K: WIDEN(4, AS_Q4_K, 32); break; \
        case AS_Q8_0: WIDEN(8, AS_Q8_0, 32); break; \
        case ROW: WIDEN(8, ROW, 32); break; \
        case BF16: \
            if (m->bits == 4) OF_GROUP(m, WIDEN, 4, BF16) else OF_GROUP(m, WIDEN, 8, BF16) break; \
        case NESTED: \
            if (m->bits == 4) OF_GROUP(m, WIDEN, 4, NESTED) else OF_GROUP(m, WIDEN, 8, NESTED) break; \
        default: \
            if (m->bits == 4) OF_GROUP(m, WIDEN, 4, FP16) else OF_GROUP(m, WIDEN, 8, FP16) \
    }
#define OF_GROUP(m, WIDEN, bits, kind) { if (m->group == 16) WIDEN(bits, kind, 16); else WIDEN(bits, kind, 32); }

#ifdef __AVX2__
/* 16 numbers as bf16, as `write_bf16` rounds. */
WIDE INLINE __m256i bf16_of_16(__m512 numbers) {
    const __m512i bits = _mm512_castps_si512(numbers), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, is_nan, _mm512_set1_epi32(0x7fc00000)), 16));
}

WIDE INLINE __m512i bf16_of_32(__m512 low, __m512 high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(bf16_of_16(low)), bf16_of_16(high), 1);
}

#define TARGET WIDE
#define OF(name) name##_512
#define ROUNDED bf16_of_32
#include "write_out.h"

#define TARGET ROUNDING
#define OF(name) name##_rounding
#define ROUNDED rounded
#include "write_out.h"

/* A part of a matrix in few bits as bf16. */
static void write_out(const Matrix *m, const Part *part, uint16_t *out) {
    /* the instruction takes numbers below 2**-126 for zero: no weight is one whose scale is fp16 */
    if (is_wide == ROUNDS && m->kind != BF16 && m->kind != ROW) write_out_rounding(m, part, out);
    else write_out_512(m, part, out);
}
#else
static const int is_wide;
static void write_out(const Matrix *m, const Part *part, uint16_t *out) {}
#endif

/* A part of a matrix, packed or in full, in `out` from number `at` on. */
static void widen(const Matrix *m, const Part *part, void *out, size_t at, int is_bf16) {
#define WIDEN(bits, kind, group) widen_by(m, part, out, at, bits, kind, group, is_bf16)
    if (m->bits >= 16) copy(m, part, out, at, is_bf16);
    else if (is_bf16 && is_wide) write_out(m, part, (uint16_t *)out + at);
    else OF_EACH_KIND(m, WIDEN)
#undef WIDEN
}

static void widen_row(const Matrix *matrix, int row, int columns, void *out, size_t at, int is_bf16) {
    const Matrix *m = holding(matrix, &row);
    const Part part = {row, 1, 0, columns, columns, m->rows, 0};
    widen(m, &part, out, at, is_bf16);
}

/* Fewer numbers are written out sooner by one thread than others are woken. */
INLINE int is_much(int rows, int columns) { return (int64_t)rows * columns > 1 << 16; }

/* Rows `first` to `first + rows` of all of a matrix, as bf16 or fp32 `[rows, columns]`. Columns are a multiple of 8. */
EXPORT void FORM(headstart_widen)(const Matrix *matrix, int32_t first, int32_t rows, int32_t columns, void *out, int32_t is_bf16) {
#pragma omp parallel for schedule(static) if (is_much(rows, columns))
    for (int i = 0; i < rows; i++) widen_row(matrix, first + i, columns, out, (size_t)i * columns, is_bf16);
}

/* The same of the rows `ids` `[rows]`: the embeddings of tokens. */
EXPORT void FORM(headstart_widen_some)(const Matrix *matrix, const int64_t *ids, int32_t rows, int32_t columns, void *out,
                                       int32_t is_bf16) {
#pragma omp parallel for schedule(static) if (is_much(rows, columns))
    for (int i = 0; i < rows; i++) widen_row(matrix, ids[i], columns, out, (size_t)i * columns, is_bf16);
}
