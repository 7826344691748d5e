/* Products of some rows of a packed matrix with the activations of some tokens, in one width: `matrix.h` includes this for
   each.

   A vector holds eight numbers of each of its rows, which are PER rows side by side, so that a row is summed up in the same
   order in every width. VECTORS of them share what is loaded of the activations, and TOGETHER tokens at most share what
   is taken out of codes and scales: each product is summed up in the same order, whatever others are made with it. */

enum { NAME(AT_ONCE) = VECTORS * PER };

/* Eight scales of each row from group `g` on, whatever their kind. */
TARGET INLINE V NAME(scales)(const Matrix *m, const void *numbers, const void *supers, const int *rows, int g, int kind) {
    f8 each[PER];
    for (int i = 0; i < PER; i++) {
        const size_t at = (size_t)rows[i] * m->groups + g;
        each[i] = eight_scales(numbers, supers, kind, at, kind == NESTED ? at / (256 / m->group) : 0);
    }
    return JOIN(each);
}

/* What code 0 of eight groups of each row stands for. */
TARGET INLINE V NAME(least)(const Matrix *m, const int *rows, int g, int kind) {
    const V minimum = m->mins ? NAME(scales)(m, m->mins, m->super_mins, rows, g, kind) : SET(0.0f);
    if (!m->offset) return minimum;
    return FMA(NAME(scales)(m, m->scales, m->supers, rows, g, kind), SET((float)-m->offset), minimum);
}

/* A stretch of 4-bit codes. `place` is that of its first group among the eight whose `scale` is at hand. Products within a
   group are sums of whole numbers. */
TARGET INLINE void NAME(int4_stretch)(const uint32_t *const *codes, int column, const Scratch *s, int tokens,
                                      V (*scale)[VECTORS], int place, int group, V (*first)[VECTORS], V (*second)[VECTORS]) {
    VI words[VECTORS], sums[TOGETHER][VECTORS];
    for (int v = 0; v < VECTORS; v++) words[v] = LOAD_WORDS(codes + v * PER, column / 8);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const int begins = group == 16 || k % 2 == 0, ends = group == 16 || k % 2 == 1, own = place + (group == 16 ? k : k / 2);
        VI pairs[VECTORS];
        for (int v = 0; v < VECTORS; v++) pairs[v] = AND(SHIFT_DOWN(words[v], 4 * k), 0x000f000f);
#pragma GCC unroll 4
        for (int t = 0; t < tokens; t++) {
            const VI x = PAIRS(s[t].as_codes + column + 16 * k);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++) {
                sums[t][v] = begins ? MULTIPLY(pairs[v], x) : ADD_WORDS(sums[t][v], MULTIPLY(pairs[v], x));
                if (!ends) continue;
                if (k < 2) first[t][v] = FMA(TO_V(sums[t][v]), SPREAD(scale[t][v], own), first[t][v]);
                else second[t][v] = FMA(TO_V(sums[t][v]), SPREAD(scale[t][v], own), second[t][v]);
            }
        }
    }
}

/* 32 columns of 8-bit codes, likewise. */
TARGET INLINE void NAME(int8_columns)(const int8_t *const *codes, int column, const Scratch *s, int tokens,
                                      V (*scale)[VECTORS], int place, int group, V (*first)[VECTORS], V (*second)[VECTORS]) {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
        const VI left = LOAD_BYTES(codes + v * PER, column), right = LOAD_BYTES(codes + v * PER, column + 16);
#pragma GCC unroll 4
        for (int t = 0; t < tokens; t++) {
            const VI a = MULTIPLY(left, PAIRS(s[t].whole + column)), b = MULTIPLY(right, PAIRS(s[t].whole + column + 16));
            if (group == 16) {
                first[t][v] = FMA(TO_V(a), SPREAD(scale[t][v], place), first[t][v]);
                second[t][v] = FMA(TO_V(b), SPREAD(scale[t][v], place + 1), second[t][v]);
            } else first[t][v] = FMA(TO_V(ADD_WORDS(a, b)), SPREAD(scale[t][v], place), first[t][v]);
        }
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
TARGET INLINE void NAME(grouped)(const Matrix *m, const int *rows, const Scratch *s, float (*out)[4], int tokens, int bits,
                                 int kind, int group) {
    const void *codes[NAME(AT_ONCE)];
    const size_t row_bytes = (size_t)m->columns * bits / 8;
    V first[TOGETHER][VECTORS], second[TOGETHER][VECTORS], least[TOGETHER][VECTORS];
    for (int i = 0; i < NAME(AT_ONCE); i++) codes[i] = (const char *)m->codes + rows[i] * row_bytes;
    for (int t = 0; t < tokens; t++)
        for (int v = 0; v < VECTORS; v++) first[t][v] = second[t][v] = least[t][v] = SET(0.0f);
    if (m->mins || m->offset)
        for (int g = 0; g * group < m->columns; g += 8)
            for (int v = 0; v < VECTORS; v++) {
                const V own = NAME(least)(m, rows + v * PER, g, kind);
#pragma GCC unroll 4
                for (int t = 0; t < tokens; t++)
                    least[t][v] = FMA(own, EIGHT((group == 16 ? s[t].sums16 : s[t].sums32) + g), least[t][v]);
            }
    for (int start = 0, g = 0; start < m->columns; start += 8 * group, g += 8) {
        const int end = start + 8 * group < m->columns ? start + 8 * group : m->columns;
        V scale[TOGETHER][VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            const V own = NAME(scales)(m, m->scales, m->supers, rows + v * PER, g, kind);
#pragma GCC unroll 4
            for (int t = 0; t < tokens; t++) scale[t][v] = MUL(own, EIGHT((group == 16 ? s[t].steps16 : s[t].steps32) + g));
        }
        for (int at = start; at < end; at += bits == 4 ? STRETCH : 32) {
            const int place = (at - start) / group;
            NAME(fetch_ahead)((const char *const *)codes, (size_t)at * bits / 8, row_bytes);
            if (bits == 4) NAME(int4_stretch)((const uint32_t *const *)codes, at, s, tokens, scale, place, group, first, second);
            else NAME(int8_columns)((const int8_t *const *)codes, at, s, tokens, scale, place, group, first, second);
        }
    }
    for (int t = 0; t < tokens; t++) {
        for (int v = 0; v < VECTORS; v++) first[t][v] = ADD(ADD(first[t][v], second[t][v]), least[t][v]);
        SUM_UP(first[t], out[t]);
    }
}

/* Some rows of 8-bit codes with one scale each. */
TARGET INLINE void NAME(scaled)(const Matrix *m, const int *rows, const Scratch *s, float (*out)[4], int tokens) {
    const int8_t *codes[NAME(AT_ONCE)];
    V sums[TOGETHER][VECTORS];
    for (int i = 0; i < NAME(AT_ONCE); i++) codes[i] = (const int8_t *)m->codes + (size_t)rows[i] * m->columns;
    for (int t = 0; t < tokens; t++)
        for (int v = 0; v < VECTORS; v++) sums[t][v] = SET(0.0f);
    for (int column = 0; column < m->columns; column += 32)
        for (int v = 0; v < VECTORS; v++) {
            const VI left = LOAD_BYTES(codes + v * PER, column), right = LOAD_BYTES(codes + v * PER, column + 16);
#pragma GCC unroll 4
            for (int t = 0; t < tokens; t++) {
                const VI a = MULTIPLY(left, PAIRS(s[t].whole + column)), b = MULTIPLY(right, PAIRS(s[t].whole + column + 16));
                sums[t][v] = FMA(TO_V(ADD_WORDS(a, b)), SET(s[t].steps32[column / 32]), sums[t][v]);
            }
        }
    for (int t = 0; t < tokens; t++) {
        SUM_UP(sums[t], out[t]);
        for (int i = 0; i < NAME(AT_ONCE); i++) out[t][i] *= ((const float *)m->scales)[rows[i]];
    }
}

/* A group of 32 columns of each row, whose codes are `left` and `right`: 16 columns each. */
TARGET INLINE void NAME(group)(const VI *left, const VI *right, int column, const Scratch *s, int tokens, V (*scale)[VECTORS],
                               int place, V (*sums)[VECTORS]) {
#pragma GCC unroll 4
    for (int t = 0; t < tokens; t++) {
        const VI x = PAIRS(s[t].whole + column), y = PAIRS(s[t].whole + column + 16);
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) {
            const VI own = ADD_WORDS(MULTIPLY(left[v], x), MULTIPLY(right[v], y));
            sums[t][v] = FMA(TO_V(own), SPREAD(scale[t][v], place), sums[t][v]);
        }
    }
}

/* Two groups behind each other, of rows whose 256 columns begin at `from`. */
TARGET INLINE void NAME(two_groups)(const uint8_t *const *from, int column, int pair, const Scratch *s, int tokens,
                                    V (*scale)[VECTORS], V (*first)[VECTORS], V (*second)[VECTORS], int kind) {
    VI codes[4][VECTORS]; /* 16 columns each */
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
        const uint8_t *const *own = from + v * PER;
        if (kind == AS_Q8_0) {
            const int8_t *bytes[PER];
            for (int i = 0; i < PER; i++) bytes[i] = (const int8_t *)own[i];
            for (int i = 0; i < 4; i++) codes[i][v] = LOAD_BYTES(bytes, (2 * pair + i / 2) * OF_Q8_0 + 2 + i % 2 * 16);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            const int at = kind == AS_Q4_0 ? (2 * pair + i) * OF_Q4_0 + 2 : 16 + 32 * pair + 16 * i;
            const VI both = LOAD_UNSIGNED(own, at);
            codes[kind == AS_Q4_0 ? 2 * i : i][v] = AND(both, 0x000f000f);
            codes[kind == AS_Q4_0 ? 2 * i + 1 : i + 2][v] = UPPER_NIBBLES(both);
        }
    }
    NAME(group)(codes[0], codes[1], column, s, tokens, scale, 2 * pair, first);
    NAME(group)(codes[2], codes[3], column + 32, s, tokens, scale, 2 * pair + 1, second);
}

/* Some rows that are blocks of a file. */
TARGET INLINE void NAME(blocks)(const Matrix *m, const int *rows, const Scratch *s, float (*out)[4], int tokens, int kind) {
    const uint8_t *begin[NAME(AT_ONCE)], *from[NAME(AT_ONCE)];
    const size_t row_bytes = block_row_bytes(m, kind);
    V first[TOGETHER][VECTORS], second[TOGETHER][VECTORS], least[TOGETHER][VECTORS];
    for (int i = 0; i < NAME(AT_ONCE); i++) begin[i] = from[i] = block_row(m, rows[i], kind);
    for (int t = 0; t < tokens; t++)
        for (int v = 0; v < VECTORS; v++) first[t][v] = second[t][v] = least[t][v] = SET(0.0f);
    for (int start = 0; start < m->columns; start += 256) {
        V scale[TOGETHER][VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            f8 scales[PER], leasts[PER];
            for (int i = 0; i < PER; i++) block_scales(from[v * PER + i], kind, scales + i, leasts + i);
            const V own = JOIN(scales), zero = JOIN(leasts);
#pragma GCC unroll 4
            for (int t = 0; t < tokens; t++) {
                scale[t][v] = MUL(own, EIGHT(s[t].steps32 + start / 32));
                if (kind != AS_Q8_0) least[t][v] = FMA(zero, EIGHT(s[t].sums32 + start / 32), least[t][v]);
            }
        }
#pragma GCC unroll 4
        for (int pair = 0; pair < 4; pair++) {
            const size_t at = (size_t)(from[0] - begin[0]) + pair * stretch_bytes(kind) / 4;
            for (int more = 0; more < (kind == AS_Q8_0 ? 64 : 32); more += 32)
                NAME(fetch_ahead)((const char *const *)begin, at + more, row_bytes);
            NAME(two_groups)(from, start + 64 * pair, pair, s, tokens, scale, first, second, kind);
        }
        for (int i = 0; i < NAME(AT_ONCE); i++) from[i] += stretch_bytes(kind);
    }
    for (int t = 0; t < tokens; t++) {
        for (int v = 0; v < VECTORS; v++) first[t][v] = ADD(ADD(first[t][v], second[t][v]), least[t][v]);
        SUM_UP(first[t], out[t]);
    }
}

/* `count` rows from `first` on. Where those of the last call are too few, its last one is computed several times. */
#define EACH(function, tokens, ...)                                                                                       \
    for (int done = 0; done < count; done += NAME(AT_ONCE)) {                                                              \
        const int left = count - done < NAME(AT_ONCE) ? count - done : NAME(AT_ONCE);                                      \
        int rows[NAME(AT_ONCE)];                                                                                           \
        float own[tokens][4];                                                                                              \
        for (int i = 0; i < NAME(AT_ONCE); i++) rows[i] = first + done + (i < left ? i : left - 1);                        \
        NAME(function)(m, rows, s, own, tokens, ##__VA_ARGS__);                                                            \
        for (int t = 0; t < tokens; t++)                                                                                   \
            for (int i = 0; i < left; i++) out[t * apart + done + i] = own[t][i];                                          \
    }                                                                                                                      \
    return
#define FOR_KIND(tokens, bits, kind, group)                                                                                \
    case bits * 100 + group + kind: EACH(grouped, tokens, bits, kind, group);
#define FOR_GROUP(tokens, bits, group)                                                                                     \
    FOR_KIND(tokens, bits, FP16, group) FOR_KIND(tokens, bits, BF16, group) FOR_KIND(tokens, bits, NESTED, group)
#define FOR_TOKENS(tokens)                                                                                                 \
    TARGET static void NAME(packed_for_##tokens)(const Matrix *m, int first, int count, const Scratch *s, float *out,     \
                                                 size_t apart) {                                                           \
        switch (m->kind == ROW ? 0 : is_in_blocks(m->kind) ? m->kind : m->bits * 100 + m->group + m->kind) {               \
            case AS_Q4_0: EACH(blocks, tokens, AS_Q4_0);                                                                   \
            case AS_Q4_K: EACH(blocks, tokens, AS_Q4_K);                                                                   \
            case AS_Q8_0: EACH(blocks, tokens, AS_Q8_0);                                                                   \
            FOR_GROUP(tokens, 4, 16)                                                                                       \
            FOR_GROUP(tokens, 4, 32)                                                                                       \
            FOR_GROUP(tokens, 8, 16)                                                                                       \
            FOR_GROUP(tokens, 8, 32)                                                                                       \
            default: EACH(scaled, tokens);                                                                                 \
        }                                                                                                                  \
    }

/* Each combination of bits, kind, group and tokens is compiled by itself. */
FOR_TOKENS(1)
FOR_TOKENS(2)
FOR_TOKENS(4)

/* `count` rows from `first` on for `tokens` tokens. The products of one are `apart` numbers behind those of the one
   before. */
TARGET static void NAME(packed)(const Matrix *m, int first, int count, const Scratch *s, int tokens, float *out,
                                size_t apart) {
    int done = 0;
    for (; done + 4 <= tokens; done += 4) NAME(packed_for_4)(m, first, count, s + done, out + done * apart, apart);
    for (; done + 2 <= tokens; done += 2) NAME(packed_for_2)(m, first, count, s + done, out + done * apart, apart);
    if (done < tokens) NAME(packed_for_1)(m, first, count, s + done, out + done * apart, apart);
}
#undef EACH
#undef FOR_KIND
#undef FOR_GROUP
#undef FOR_TOKENS
#undef TARGET
#undef NAME
#undef V
#undef VI
#undef PER
#undef JOIN
#undef SET
#undef EIGHT
#undef ADD
#undef MUL
#undef FMA
#undef AND
#undef SHIFT_DOWN
#undef TO_V
#undef SPREAD
#undef LOAD_WORDS
#undef LOAD_BYTES
#undef LOAD_UNSIGNED
#undef UPPER_NIBBLES
#undef PAIRS
#undef MULTIPLY
#undef ADD_WORDS
#undef SUM_UP
