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

/* Each kind in a loop of its own. */
static void read_groups(const Matrix *m, int row, Groups *to) {
    if (m->kind == FP16) read_groups_of(m, row, to, FP16);
    else if (m->kind == BF16) read_groups_of(m, row, to, BF16);
    else if (m->kind == NESTED) read_groups_of(m, row, to, NESTED);
}

INLINE f8 int4_at(const Matrix *m, int row, int column) {
    const uint32_t *words = (const uint32_t *)m->codes + (size_t)row * m->columns / 8 + column / STRETCH * 8;
    return to_fp32(and8(down8(words8(words), column % STRETCH / 8 * 4), 15));
}

/* One row of `columns` numbers, a multiple of 8, from number `at` of `out` on. */
INLINE void widen_row(const Matrix *m, int row, int columns, void *out, size_t at, int bits, int is_bf16) {
    Groups groups;
    read_groups(m, row, &groups);
    const int8_t *codes = (const int8_t *)m->codes + (size_t)row * m->columns;
    const float one = m->kind == ROW ? ((const float *)m->scales)[row] : 0;
    for (int column = 0; column < columns; column += 8) {
        const f8 code = bits == 4 ? int4_at(m, row, column) : int8_to_fp32(codes + column);
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

/* Rows `first` to `first + rows` of all of a matrix, as bf16 or fp32 `[rows, columns]`. Columns are a multiple of 8.
   A single row, a token's embedding, is not worth waking other threads. */
EXPORT void FORM(headstart_widen)(const Matrix *matrix, int32_t first, int32_t rows, int32_t columns, void *out, int32_t is_bf16) {
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
