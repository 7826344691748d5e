/* Packed weights written out as bf16, 32 numbers at a time. `widen.c` includes this once for each way of
   rounding: ROUNDED makes 32 numbers in bf16 of twice 16 in fp32, TARGET says which instructions that takes, OF names what
   is made.

   Weights of 4 bits are not computed one by one: what the 16 codes of a group stand for is, and each is looked up there. */

#define UP(number) (number * 0x0001000100010001) /* in each 16 bits of 64 */

/* What the 16 codes of the group `g` stand for, and behind it those of the next. */
TARGET INLINE __m512i OF(known)(const Groups *groups, int g) {
    const __m512 codes = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return ROUNDED(_mm512_fmadd_ps(_mm512_set1_ps(groups->scale[g]), codes, _mm512_set1_ps(groups->least[g])),
                   _mm512_fmadd_ps(_mm512_set1_ps(groups->scale[g + 1]), codes, _mm512_set1_ps(groups->least[g + 1])));
}

/* The numbers of 32 codes, which are the lower four bits of 16 each: of the first group in `known`, or of the second where
   `of` is 16. */
TARGET INLINE __m512i OF(look_up)(__m512i known, __m512i codes, __m512i of) {
    const __m512i places = _mm512_ternarylogic_epi64(codes, _mm512_set1_epi16(15), of, 0xea); /* codes & 15 | of */
    return _mm512_permutexvar_epi16(places, known);
}

/* Blocks of 4 bits. */
TARGET INLINE void OF(look_up_blocks)(const uint8_t *from, const Groups *groups, int count, uint16_t *out, int kind) {
    const __m512i first = _mm512_setzero_si512(), second = _mm512_set1_epi16(16);
    const __m512i up = _mm512_set_epi64(UP(4), UP(4), UP(4), UP(4), 0, 0, 0, 0);
    for (int g = 0; g < count / 32; g += 2, out += 64) {
        __m512i codes, next;
        if (kind == AS_Q4_K) { /* the second group is in the upper four bits of the first one's bytes */
            codes = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(from + 16 + g / 2 * 32)));
            next = _mm512_srli_epi16(codes, 4);
        } else { /* the second half of a group is in the upper four bits of its bytes */
            const __m128i own = _mm_loadu_si128((const __m128i *)(from + g * OF_Q4_0 + 2));
            const __m128i behind = _mm_loadu_si128((const __m128i *)(from + (g + 1) * OF_Q4_0 + 2));
            codes = _mm512_srlv_epi16(_mm512_cvtepu8_epi16(_mm256_broadcastsi128_si256(own)), up);
            next = _mm512_srlv_epi16(_mm512_cvtepu8_epi16(_mm256_broadcastsi128_si256(behind)), up);
        }
        const __m512i known = OF(known)(groups, g);
        _mm512_storeu_si512(out, OF(look_up)(known, codes, first));
        _mm512_storeu_si512(out + 32, OF(look_up)(known, next, second));
    }
}

/* Words of 4 bits in our own order. */
TARGET INLINE void OF(look_up_words)(const uint32_t *words, const Groups *groups, int count, uint16_t *out, int group) {
    const __m512i shifts = _mm512_set_epi64(UP(4), UP(4), UP(4), UP(4), 0, 0, 0, 0);
    const __m512i even = _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0x000e000c000a0008, 0x0006000400020000);
    const __m512i is_odd = _mm512_set_epi64(UP(1), UP(1), 0, 0, UP(1), UP(1), 0, 0);
    const __m512i eights = _mm512_add_epi16(_mm512_shuffle_i64x2(even, even, 0), is_odd);
    const __m512i first = _mm512_setzero_si512(), second = _mm512_set1_epi16(16), in_turn = _mm512_maskz_set1_epi64(0xf0, UP(16));
    for (int column = 0; column < count; column += STRETCH, words += 8) {
        const __m512i halves = _mm512_permutexvar_epi16(eights, _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)words)));
        const __m512i codes = _mm512_srlv_epi16(halves, shifts), next = _mm512_srli_epi16(codes, 8);
        const int left = count - column, g = column / group;
        const __mmask32 low = left < 32 ? (1u << left) - 1 : ~0u;
        const __mmask32 high = left >= 64 ? ~0u : left > 32 ? (1u << (left - 32)) - 1 : 0;
        const __m512i known = OF(known)(groups, g), behind = group == 32 ? known : OF(known)(groups, g + 2);
        _mm512_mask_storeu_epi16(out + column, low, OF(look_up)(known, codes, group == 32 ? first : in_turn));
        _mm512_mask_storeu_epi16(out + column + 32, high, OF(look_up)(behind, next, group == 32 ? second : in_turn));
    }
}

/* What the 16 bytes from `codes` on stand for. */
TARGET INLINE __m512 OF(bytes_16)(const int8_t *codes, const Groups *groups, int g) {
    const __m512 own = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)codes)));
    return _mm512_fmadd_ps(_mm512_set1_ps(groups->scale[g]), own, _mm512_set1_ps(groups->least[g]));
}

/* As many bytes as are whole 32s, `apart` from each other; returns how many. */
TARGET INLINE int OF(write_bytes)(const int8_t *codes, int apart, const Groups *groups, int count, uint16_t *out, int group) {
    int column = 0;
    for (; column + 32 <= count; column += 32, codes += apart) {
        const __m512 low = OF(bytes_16)(codes, groups, column / group);
        const __m512 high = OF(bytes_16)(codes + 16, groups, (column + 16) / group);
        _mm512_storeu_si512(out + column, ROUNDED(low, high));
    }
    return column;
}

/* As `widen_by`; and what comes next is fetched meanwhile. */
TARGET INLINE void OF(write_by)(const Matrix *m, const Part *part, uint16_t *out, int bits, int kind, int group) {
    for (int i = 0; i < part->rows; i++, out += part->apart) {
        if (part->next_row + i < m->rows) fetch_piece(m, part->next_row + i, part->next, bits, kind, group);
        for (int done = 0; done < part->columns; done += PIECE_COLUMNS) {
            const int left = part->columns - done, count = left < PIECE_COLUMNS ? left : PIECE_COLUMNS, first = part->first + done;
            const void *from = piece_of(m, part->row + i, first, bits, kind);
            Groups groups;
            read_groups(m, part->row + i, first, &groups, kind, group);
            __asm__("" : "+m"(groups)); /* a scale from memory is everywhere at once; gcc would move it out of a register */
            if (kind == AS_Q4_0 || kind == AS_Q4_K) OF(look_up_blocks)(from, &groups, count, out + done, kind);
            else if (bits == 4) OF(look_up_words)(from, &groups, count, out + done, group);
            else if (kind == AS_Q8_0) OF(write_bytes)((const int8_t *)from + 2, OF_Q8_0, &groups, count, out + done, 32);
            else {
                const int whole = OF(write_bytes)(from, 32, &groups, count, out + done, group);
                widen_piece(from, &groups, whole, count, out + done, 0, bits, kind, group, 1);
            }
        }
    }
}

TARGET static void OF(write_out)(const Matrix *m, const Part *part, uint16_t *out) {
#define WRITE(bits, kind, group) OF(write_by)(m, part, out, bits, kind, group)
    OF_EACH_KIND(m, WRITE)
#undef WRITE
}

#undef UP
#undef TARGET
#undef OF
#undef ROUNDED
