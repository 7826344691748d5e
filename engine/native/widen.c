/* The numbers that packed weights stand for, written out: before many rows are multiplied with them at once. */

#include "blocks.h"
#include "groups.h"

/* The scale of each group of one row, and what code 0 stands for. 16 zeros follow behind the last. */
typedef struct {
    float scale[MOST_GROUPS + 16], least[MOST_GROUPS + 16];
} Groups;

INLINE void read_groups_of(const Matrix *m, int row, Groups *to, int kind) {
    const size_t at = (size_t)row * m->groups;
    const int in_super = 256 / m->group;
    const size_t super = kind == NESTED ? at / in_super : 0;
    const f8 offset = set8((float)-m->offset), zero = set8(0.0f);
    for (int g = 0; g < m->groups; g += 8) {
        const size_t own = super + (kind == NESTED ? g / in_super : 0);
        const f8 scale = eight_scales(m->scales, m->supers, kind, at + g, own);
        const f8 minimum = m->mins ? eight_scales(m->mins, m->super_mins, kind, at + g, own) : zero;
        write8(to->scale + g, scale);
        write8(to->least + g, fma8(scale, offset, minimum));
    }
    for (int i = 0; i < 16; i += 8) {
        write8(to->scale + m->groups + i, zero);
        write8(to->least + m->groups + i, zero);
    }
}

INLINE void read_block_groups(const Matrix *m, int row, Groups *to, int kind) {
    const uint8_t *from = block_row(m, row, kind);
    for (int g = 0; g < m->columns / 32; g += 8, from += stretch_bytes(kind)) {
        f8 scale, least;
        block_scales(from, kind, &scale, &least);
        write8(to->scale + g, scale);
        write8(to->least + g, least);
    }
}

/* Each kind in a loop of its own. */
static void read_groups(const Matrix *m, int row, Groups *to) {
    if (m->kind == AS_Q4_0) read_block_groups(m, row, to, AS_Q4_0);
    else if (m->kind == AS_Q4_K) read_block_groups(m, row, to, AS_Q4_K);
    else if (m->kind == AS_Q8_0) read_block_groups(m, row, to, AS_Q8_0);
    else if (m->kind == FP16) read_groups_of(m, row, to, FP16);
    else if (m->kind == BF16) read_groups_of(m, row, to, BF16);
    else if (m->kind == NESTED) read_groups_of(m, row, to, NESTED);
}

INLINE f8 int4_at(const Matrix *m, int row, int column) {
    const uint32_t *words = (const uint32_t *)m->codes + (size_t)row * m->columns / 8 + column / STRETCH * 8;
    return to_fp32(and8(down8(words8(words), bit_of(column % STRETCH / 8)), 15));
}

/* The codes of eight columns, whose blocks begin at `from` where they are in blocks. */
INLINE f8 codes_at(const Matrix *m, const uint8_t *from, int row, int column, int bits, int kind) {
    if (is_in_blocks(kind)) return block_codes(from + column / 256 * stretch_bytes(kind), column % 256, kind);
    if (bits == 4) return int4_at(m, row, column);
    return int8_to_fp32((const int8_t *)m->codes + (size_t)row * m->columns + column);
}

/* One row of `columns` numbers, a multiple of 8, from number `at` of `out` on. `kind` matters where it is one of blocks. */
INLINE void widen_row(const Matrix *m, int row, int columns, void *out, size_t at, int bits, int kind, int is_bf16) {
    Groups groups;
    read_groups(m, row, &groups);
    const uint8_t *from = is_in_blocks(kind) ? block_row(m, row, kind) : 0;
    const float one = m->kind == ROW ? ((const float *)m->scales)[row] : 0;
    for (int column = 0; column < columns; column += 8) {
        const f8 code = codes_at(m, from, row, column, bits, kind);
        const int g = m->kind == ROW ? 0 : column / m->group;
        const f8 scale = set8(m->kind == ROW ? one : groups.scale[g]);
        const f8 least = set8(m->kind == ROW ? 0 : groups.least[g]);
        store8(out, at + column, is_bf16, fma8(scale, code, least));
    }
}

INLINE void copy_row(const Matrix *m, int row, int columns, void *out, size_t at, int is_bf16) {
    for (int column = 0; column < columns; column += 8)
        store8(out, at + column, is_bf16, load8(m->codes, (size_t)row * m->columns + column, m->bits == 16));
}

#ifdef __AVX2__
/* 16 numbers as bf16, as `write_bf16` rounds. */
WIDE INLINE __m256i bf16_of_16(__m512 numbers) {
    const __m512i bits = _mm512_castps_si512(numbers), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, is_nan, _mm512_set1_epi32(0x7fc00000)), 16));
}

/* What the 16 codes of a group stand for. */
WIDE INLINE __m256i numbers_of(const Groups *groups, int g) {
    const __m512 codes = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return bf16_of_16(_mm512_fmadd_ps(_mm512_set1_ps(groups->scale[g]), codes, _mm512_set1_ps(groups->least[g])));
}

#define UP(number) (number * 0x0001000100010001) /* in each 16 bits of 64 */

/* The numbers that the 32 codes of a group stand for, which are 16 bits each. */
WIDE INLINE void look_up(const Groups *groups, int g, __m512i codes, uint16_t *out) {
    const __m512i known = _mm512_castsi256_si512(numbers_of(groups, g));
    _mm512_storeu_si512(out + 32 * g, _mm512_permutexvar_epi16(_mm512_and_si512(codes, _mm512_set1_epi16(15)), known));
}

/* `widen_row` for blocks of 4 bits and bf16, in 512 bits. */
WIDE static void look_up_blocks(const Matrix *m, int row, uint16_t *out) {
    const uint8_t *from = block_row(m, row, m->kind);
    Groups groups;
    read_groups(m, row, &groups);
    if (m->kind == AS_Q4_0) {
        for (int g = 0; g < m->columns / 32; g++) {
            const __m256i own = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(from + g * OF_Q4_0 + 2)));
            look_up(&groups, g, _mm512_inserti64x4(_mm512_castsi256_si512(own), _mm256_srli_epi16(own, 4), 1), out);
        }
        return;
    }
    for (int g = 0; g < m->columns / 32; g += 2) {
        const uint8_t *codes = from + g / 8 * OF_Q4_K + 16 + g % 8 / 2 * 32;
        const __m512i own = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)codes));
        look_up(&groups, g, own, out);
        look_up(&groups, g + 1, _mm512_srli_epi16(own, 4), out);
    }
}

/* `widen_row` for 4 bits and bf16, in 512 bits: 32 columns are looked up at a time in what their codes stand for. */
WIDE static void look_up_row(const Matrix *m, int row, int columns, uint16_t *out) {
    const uint32_t *words = (const uint32_t *)m->codes + (size_t)row * m->columns / 8;
    const __m512i shifts = _mm512_set_epi64(UP(4), UP(4), UP(4), UP(4), 0, 0, 0, 0);
    const __m512i even = _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0x000e000c000a0008, 0x0006000400020000);
    const __m512i eights = _mm512_add_epi16(_mm512_shuffle_i64x2(even, even, 0), _mm512_set_epi64(UP(1), UP(1), 0, 0, UP(1), UP(1), 0, 0));
    const __m512i of_second = _mm512_maskz_set1_epi64(0xf0, UP(16));
    Groups groups;
    read_groups(m, row, &groups);
    for (int column = 0; column < columns; column += 32) {
        const __m256i own = _mm256_loadu_si256((const __m256i *)(words + column / STRETCH * 8));
        const __m512i halves = _mm512_permutexvar_epi16(eights, _mm512_castsi256_si512(own));
        const __m512i codes = _mm512_srlv_epi16(halves, _mm512_add_epi16(shifts, _mm512_set1_epi16(column % STRETCH / 4)));
        const __m512i places = _mm512_or_si512(_mm512_and_si512(codes, _mm512_set1_epi16(15)), of_second);
        const int g = column / m->group;
        const __m256i first = numbers_of(&groups, g), second = m->group == 32 ? first : numbers_of(&groups, g + 1);
        const __m512i known = _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
        const int left = columns - column;
        const __mmask32 there = left < 32 ? (1u << left) - 1 : ~0u;
        _mm512_mask_storeu_epi16(out + column, there, _mm512_permutexvar_epi16(places, known));
    }
}

/* The same for 8 bits. */
WIDE INLINE void widen_bytes_by(const Matrix *m, int row, int columns, uint16_t *out, int lie) {
    const int8_t *codes = lie ? (const int8_t *)block_row(m, row, AS_Q8_0) : (const int8_t *)m->codes + (size_t)row * m->columns;
    const float one = m->kind == ROW ? ((const float *)m->scales)[row] : 0;
    Groups groups;
    read_groups(m, row, &groups);
    for (int column = 0; column < columns; column += 16) {
        const int g = m->kind == ROW ? 0 : column / m->group;
        const __m512 scale = _mm512_set1_ps(m->kind == ROW ? one : groups.scale[g]);
        const __m512 least = _mm512_set1_ps(m->kind == ROW ? 0 : groups.least[g]);
        const int8_t *from = codes + (lie ? column / 32 * OF_Q8_0 + 2 + column % 32 : column);
        const __m512 own = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)from)));
        const __m256i numbers = bf16_of_16(_mm512_fmadd_ps(scale, own, least));
        if (column + 16 <= columns) _mm256_storeu_si256((__m256i *)(out + column), numbers);
        else _mm_storeu_si128((__m128i *)(out + column), _mm256_castsi256_si128(numbers));
    }
}

WIDE static void widen_bytes(const Matrix *m, int row, int columns, uint16_t *out) {
    if (is_in_blocks(m->kind)) widen_bytes_by(m, row, columns, out, 1);
    else widen_bytes_by(m, row, columns, out, 0);
}
#else
static const int is_wide;
static void look_up_row(const Matrix *m, int row, int columns, uint16_t *out) {}
static void widen_bytes(const Matrix *m, int row, int columns, uint16_t *out) {}
static void look_up_blocks(const Matrix *m, int row, uint16_t *out) {}
#endif

/* Each kind is compiled by itself. */
INLINE void widen_packed(const Matrix *m, int row, int columns, void *out, size_t at, int is_bf16) {
    if (m->kind == AS_Q4_0) widen_row(m, row, columns, out, at, 4, AS_Q4_0, is_bf16);
    else if (m->kind == AS_Q4_K) widen_row(m, row, columns, out, at, 4, AS_Q4_K, is_bf16);
    else if (m->kind == AS_Q8_0) widen_row(m, row, columns, out, at, 8, AS_Q8_0, is_bf16);
    else if (m->bits == 4) widen_row(m, row, columns, out, at, 4, FP16, is_bf16);
    else widen_row(m, row, columns, out, at, 8, FP16, is_bf16);
}

/* One row of a matrix, packed or in full, from number `at` of `out` on. */
static void widen(const Matrix *m, int row, int columns, void *out, size_t at, int is_bf16) {
    uint16_t *halves = (uint16_t *)out + at;
    if (m->bits == 16 && is_bf16) memcpy(halves, (const uint16_t *)m->codes + (size_t)row * m->columns, 2 * columns);
    else if (m->bits >= 16) copy_row(m, row, columns, out, at, is_bf16);
    else if (!is_bf16) widen_packed(m, row, columns, out, at, 0);
    else if (!is_wide) widen_packed(m, row, columns, out, at, 1);
    else if (m->bits == 8) widen_bytes(m, row, columns, halves);
    else if (is_in_blocks(m->kind)) look_up_blocks(m, row, halves);
    else look_up_row(m, row, columns, halves);
}

/* Rows `first` to `first + rows` of all of a matrix, as bf16 or fp32 `[rows, columns]`. Columns are a multiple of 8.
   A single row, a token's embedding, is not worth waking other threads. */
EXPORT void FORM(headstart_widen)(const Matrix *matrix, int32_t first, int32_t rows, int32_t columns, void *out, int32_t is_bf16) {
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int i = 0; i < rows; i++) {
        int row = first + i;
        const Matrix *m = holding(matrix, &row);
        widen(m, row, columns, out, (size_t)i * columns, is_bf16);
    }
}
