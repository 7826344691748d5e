/* Products of many rows in bf16: a stand-in. */

#include "groups.h"
#include "model.h"
#include "vector.h"

enum { PANEL = 64 }; /* rows of a matrix that are widened at a time */

/* Bytes of `scratch`. */
EXPORT int64_t FORM(headstart_read_scratch)(int32_t count, int32_t columns) {
    (void)count;
    return (int64_t)PANEL * columns * 2;
}

/* out = rows `[count, columns]` times a matrix and those below it, plus their biases: `[count, all their rows]`. */
EXPORT void FORM(headstart_read_rows)(const Matrix *matrix, const void *rows, int32_t count, int32_t columns, void *out, void *scratch) {
    int all = 0;
    for (const Matrix *m = matrix; m; m = m->below) all += m->rows;
    for (int first = 0; first < all; first += PANEL) {
        const int taken = all - first < PANEL ? all - first : PANEL;
        FORM(headstart_widen)(matrix, first, taken, columns, scratch, 1);
#pragma omp parallel for schedule(static)
        for (int unit = 0; unit < count * taken; unit++) {
            const int row = unit / taken, output = unit % taken;
            f8 sums = set8(0.0f);
            for (int i = 0; i < columns; i += 8)
                sums = fma8(load8(rows, (size_t)row * columns + i, 1), load8(scratch, (size_t)output * columns + i, 1), sums);
            int own = first + output;
            const Matrix *m = holding(matrix, &own);
            store1(out, (size_t)row * all + first + output, 1, sum8(sums) + (m->bias ? m->bias[own] : 0.0f));
        }
    }
}
