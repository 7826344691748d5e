/* Products of some rows of a packed matrix with a row of activations, in one width: `matrix.h` includes this for each.

   A vector holds eight numbers of each of its rows, which are PER rows side by side, so that a row is summed up in the same
   order in every width. VECTORS of them share what is loaded of the activations. */

enum { NAME(AT_ONCE) = VECTORS * PER };

/* Eight scales of each row from group `g` on, whatever their kind. */
TARGET INLINE V NAME(scales)(const Matrix *m, const void *numbers, const void *supers, const int *rows, int g, int kind) {
    __m256 each[PER];
    for (int i = 0; i < PER; i++) {
        const size_t at = (size_t)rows[i] * m->groups + g;
        each[i] = eight_scales(numbers, supers, kind, at, kind == NESTED ? at / (256 / m->group) : 0);
    }
    return JOIN(each);
}

/* What code 0 of eight groups of each row stands for. */
TARGET INLINE V NAME(least)(const Matrix *m, const int *rows, int g, int kind) {
    const V minimum = m->mins ? NAME(scales)(m, m->mins, m->super_mins, rows, g, kind) : ZERO;
    if (!m->offset) return minimum;
    return FMA(NAME(scales)(m, m->scales, m->supers, rows, g, kind), SET((float)-m->offset), minimum);
}

/* Eight of the columns of a stretch. Their codes stay where they are in their words, and so count 16 ** k times:
   `prepare` made up for that. The highest four bits would be a sign and are moved down. */
TARGET INLINE V NAME(columns)(VI words, int k) {
    return TO_V(k < 7 ? AND(words, SET_I(15 << (4 * k))) : SHIFT_DOWN(words, 28));
}

/* A stretch of 4-bit codes. `place` is that of its first group among the eight whose `scale` is at hand. */
TARGET INLINE void NAME(int4_stretch)(const uint32_t *const *codes, int column, const float *x, const V *scale, int place,
                                      int group, V *first, V *second) {
    const VI at = ADD_I(EIGHTS, SET_I(place));
    VI words[VECTORS];
    V a[VECTORS], b[VECTORS];
    for (int v = 0; v < VECTORS; v++) words[v] = LOAD_WORDS(codes + v * PER, column / 8);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const V left = EIGHT(x + 8 * k), right = EIGHT(x + 8 * (k + 4));
        const int begins = k == 0 || (group == 16 && k == 2), ends = k == 3 || (group == 16 && k == 1);
        const VI of_a = ADD_I(at, SET_I(k / 2 * (group == 16))), of_b = ADD_I(of_a, SET_I(group == 16 ? 2 : 1));
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) {
            const V p = NAME(columns)(words[v], k), q = NAME(columns)(words[v], k + 4);
            a[v] = begins ? MUL(p, left) : FMA(p, left, a[v]);
            b[v] = begins ? MUL(q, right) : FMA(q, right, b[v]);
            if (!ends) continue;
            first[v] = FMA(a[v], PICK(scale[v], of_a), first[v]);
            second[v] = FMA(b[v], PICK(scale[v], of_b), second[v]);
        }
    }
}

/* 32 columns of 8-bit codes, likewise. */
TARGET INLINE void NAME(int8_columns)(const int8_t *const *codes, int column, const float *x, const V *scale, int place,
                                      int group, V *first, V *second) {
    const VI of_a = ADD_I(EIGHTS, SET_I(place)), of_b = ADD_I(of_a, SET_I(group == 16));
    const V eights[4] = {EIGHT(x), EIGHT(x + 8), EIGHT(x + 16), EIGHT(x + 24)};
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
        const int8_t *const *own = codes + v * PER;
        const V a = FMA(LOAD_BYTES(own, column + 8), eights[1], MUL(LOAD_BYTES(own, column), eights[0]));
        const V b = FMA(LOAD_BYTES(own, column + 24), eights[3], MUL(LOAD_BYTES(own, column + 16), eights[2]));
        first[v] = FMA(a, PICK(scale[v], of_a), first[v]);
        second[v] = FMA(b, PICK(scale[v], of_b), second[v]);
    }
}

/* Ask for codes that come soon, while those at byte `at` of each row are multiplied. The processor foresees by itself only
   what is read in one stretch from front to back: rows that are read side by side are many short stretches. */
TARGET INLINE void NAME(fetch_ahead)(const char *const *codes, size_t at, size_t row_bytes) {
    if (row_bytes < LONG_ROW) {
        for (int i = 0; i < NAME(AT_ONCE); i += 2) __builtin_prefetch(codes[0] + NAME(AT_ONCE) * at + AHEAD + 32 * i);
        return;
    }
    const size_t behind_end = at + AHEAD / 4 < row_bytes ? 0 : (NAME(AT_ONCE) - 1) * row_bytes; /* the rows after these */
    for (int i = 0; i < NAME(AT_ONCE); i++) __builtin_prefetch(codes[i] + at + AHEAD / 4 + behind_end);
}

/* Some rows whose scales are of one kind, one for each `group` of columns. */
TARGET INLINE void NAME(grouped)(const Matrix *m, const int *rows, const Scratch *s, float *out, int bits, int kind, int group) {
    const float *sums = group == 16 ? s->sums16 : s->sums32;
    const void *codes[NAME(AT_ONCE)];
    const size_t row_bytes = (size_t)m->columns * bits / 8;
    V first[VECTORS], second[VECTORS], least[VECTORS];
    for (int i = 0; i < NAME(AT_ONCE); i++) codes[i] = (const char *)m->codes + rows[i] * row_bytes;
    for (int v = 0; v < VECTORS; v++) first[v] = second[v] = least[v] = ZERO;
    if (m->mins || m->offset)
        for (int g = 0; g * group < m->columns; g += 8)
            for (int v = 0; v < VECTORS; v++)
                least[v] = FMA(NAME(least)(m, rows + v * PER, g, kind), EIGHT(sums + g), least[v]);
    for (int start = 0, g = 0; start < m->columns; start += 8 * group, g += 8) {
        const int end = start + 8 * group < m->columns ? start + 8 * group : m->columns;
        V scale[VECTORS];
        for (int v = 0; v < VECTORS; v++) scale[v] = NAME(scales)(m, m->scales, m->supers, rows + v * PER, g, kind);
        for (int at = start; at < end; at += bits == 4 ? STRETCH : 32) {
            const int place = (at - start) / group;
            NAME(fetch_ahead)((const char *const *)codes, (size_t)at * bits / 8, row_bytes);
            if (bits == 4) NAME(int4_stretch)((const uint32_t *const *)codes, at, s->folded + at, scale, place, group, first, second);
            else NAME(int8_columns)((const int8_t *const *)codes, at, s->x + at, scale, place, group, first, second);
        }
    }
    for (int v = 0; v < VECTORS; v++) first[v] = ADD(ADD(first[v], second[v]), least[v]);
    SUM_UP(first, out);
}

/* Some rows of 8-bit codes with one scale each. */
TARGET INLINE void NAME(scaled)(const Matrix *m, const int *rows, const Scratch *s, float *out) {
    const int8_t *codes[NAME(AT_ONCE)];
    V first[VECTORS], second[VECTORS];
    for (int i = 0; i < NAME(AT_ONCE); i++) codes[i] = (const int8_t *)m->codes + (size_t)rows[i] * m->columns;
    for (int v = 0; v < VECTORS; v++) first[v] = second[v] = ZERO;
    for (int column = 0; column < m->columns; column += 16) {
        const V left = EIGHT(s->x + column), right = EIGHT(s->x + column + 8);
        for (int v = 0; v < VECTORS; v++) {
            first[v] = FMA(LOAD_BYTES(codes + v * PER, column), left, first[v]);
            second[v] = FMA(LOAD_BYTES(codes + v * PER, column + 8), right, second[v]);
        }
    }
    for (int v = 0; v < VECTORS; v++) first[v] = ADD(first[v], second[v]);
    SUM_UP(first, out);
    for (int i = 0; i < NAME(AT_ONCE); i++) out[i] *= ((const float *)m->scales)[rows[i]];
}

/* `count` rows from `first` on. Where those of the last call are too few, its last one is computed several times. */
#define EACH(function, ...)                                                                                               \
    for (int done = 0; done < count; done += NAME(AT_ONCE)) {                                                              \
        const int left = count - done < NAME(AT_ONCE) ? count - done : NAME(AT_ONCE);                                      \
        int rows[NAME(AT_ONCE)];                                                                                           \
        float own[4];                                                                                                      \
        for (int i = 0; i < NAME(AT_ONCE); i++) rows[i] = first + done + (i < left ? i : left - 1);                        \
        NAME(function)(m, rows, s, own, ##__VA_ARGS__);                                                                    \
        for (int i = 0; i < left; i++) out[done + i] = own[i];                                                             \
    }                                                                                                                      \
    return
#define FOR_KIND(bits, kind, group)                                                                                        \
    case bits * 100 + group + kind: EACH(grouped, bits, kind, group);
#define FOR_GROUP(bits, group) FOR_KIND(bits, FP16, group) FOR_KIND(bits, BF16, group) FOR_KIND(bits, NESTED, group)

/* Each combination of bits, kind and group is compiled by itself. */
TARGET static void NAME(packed)(const Matrix *m, int first, int count, const Scratch *s, float *out) {
    switch (m->kind == ROW ? 0 : m->bits * 100 + m->group + m->kind) {
        FOR_GROUP(4, 16)
        FOR_GROUP(4, 32)
        FOR_GROUP(8, 16)
        FOR_GROUP(8, 32)
        default: EACH(scaled);
    }
}
#undef EACH
#undef FOR_KIND
#undef FOR_GROUP
