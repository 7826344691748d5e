/* Strings that lie behind each other in a file, each with its length before it, as a GGUF file has its lists of them. Such a
   file may change while it is read: nothing is taken for granted that was read before. */

#include <stdlib.h>
#include <string.h>
#include "model.h"

/* A string, and how many bytes of the file are left behind it. */
typedef struct {
    const uint8_t *text;
    int64_t length, left;
} String;

/* The string that `left` bytes from `at` on begin with; without text where it reaches past them. */
static inline String string_at(const uint8_t *at, int64_t left) {
    uint64_t length;
    if (left < (int64_t)sizeof length) return (String){0};
    memcpy(&length, at, sizeof length);
    left -= sizeof length;
    if (length > (uint64_t)left) return (String){0};
    return (String){at + sizeof length, length, left - length};
}

static inline String behind(String string) { return string_at(string.text + string.length, string.left); }

/* Where `count` strings end, the first of which begins at byte `at` of `size`; -1 where they reach past the end. With `out`
   they are copied there, a zero behind each, if `room` bytes are enough for all of that, else the result is -1. */
EXPORT int64_t headstart_strings(const uint8_t *data, int64_t size, int64_t at, int64_t count, uint8_t *out, int64_t room) {
    if (at > size) return -1;
    String found = {data + at, 0, size - at};
    while (count-- > 0) {
        found = behind(found);
        if (!found.text) return -1;
        if (!out) continue;
        if (room <= found.length) return -1;
        memcpy(out, found.text, found.length);
        out[found.length] = 0;
        out += found.length + 1;
        room -= found.length + 1;
    }
    return size - found.left;
}

enum { MOST_STRINGS = 1 << 24, MOST_STEPS = 1024 }; /* so many steps are taken only where somebody made it so */

/* Which place is the first for a number in a table of 2 to the power of `bits`. */
static inline uint32_t place_of(uint64_t number, int bits) { return number * 0x9e3779b97f4a7c15u >> (64 - bits); }

/* Bits of a table that `count` entries fill by half at most. */
static int bits_for(int64_t count) {
    int bits = 4;
    while ((int64_t)1 << bits < 2 * count) bits++;
    return bits;
}

/* Strings, found by what they are: a place has a string's number plus 1. */
typedef struct {
    String *strings;
    uint32_t *places;
    int bits;
} Table;

static inline uint32_t first_place(const Table *table, const uint8_t *text, int64_t length) {
    uint64_t hash = length;
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t eight;
        memcpy(&eight, text, 8);
        hash = (hash ^ eight) * 0x9fb21c651e98df25u;
        hash ^= hash >> 32;
    }
    uint64_t last = 0;
    for (int64_t i = 0; i < length; i++) last = last << 8 | text[i];
    hash = (hash ^ last) * 0x9fb21c651e98df25u;
    return place_of(hash ^ hash >> 32, table->bits);
}

/* The place of a string, or that where it belongs; null where neither is found soon. */
static inline uint32_t *find(const Table *table, const uint8_t *text, int64_t length) {
    uint32_t place = first_place(table, text, length);
    for (int i = 0; i < MOST_STEPS; i++) {
        uint32_t *found = table->places + place;
        if (!*found) return found;
        const String *other = table->strings + (*found - 1);
        if (other->length == length && !memcmp(other->text, text, length)) return found;
        place = (place + 1) & ((1u << table->bits) - 1);
    }
    return 0;
}

static void free_table(Table *table) {
    free(table->strings);
    free(table->places);
}

/* Whether all strings of a text, which has a zero between them, are in the table now. Not so where one is there twice. */
static int fill_table(Table *table, const uint8_t *text, int64_t size, int64_t count) {
    if (count < 0 || count > MOST_STRINGS) return 0;
    table->bits = bits_for(count);
    table->strings = malloc((count + 1) * sizeof *table->strings);
    table->places = calloc((size_t)1 << table->bits, sizeof *table->places);
    if (!table->strings || !table->places) return 0;
    for (int64_t i = 0; i < count; i++) {
        if (size < 0) return 0;
        const uint8_t *zero = memchr(text, 0, size);
        const int64_t length = zero ? zero - text : size;
        uint32_t *place = find(table, text, length);
        if (!place || *place) return 0;
        table->strings[i] = (String){text, length, size - length};
        *place = i + 1;
        text += length + 1;
        size -= length + 1;
    }
    return 1;
}

/* Whether a pair was not among `seen` yet, which are places as in a table; it is then. */
static int is_new(uint64_t *seen, int bits, uint64_t first, uint64_t second) {
    const uint64_t pair = (first << 32 | second) + 1;
    uint32_t place = place_of(pair ^ pair >> 29, bits);
    for (int i = 0; i < MOST_STEPS; i++) {
        if (seen[place] == pair) return 0;
        if (!seen[place]) {
            seen[place] = pair;
            return 1;
        }
        place = (place + 1) & ((1u << bits) - 1);
    }
    return 0;
}

/* Merges in a file, each of which is two tokens with a blank between them: `out` gets the tokens' numbers, two for each merge.
   Returns 0 where one of them or what they make is no token, a merge is there twice, or the list reaches past the end.
   `tokens` have a zero between them. The first of two has one letter at least, so that a blank at its beginning is its own. */
EXPORT int32_t headstart_merges(const uint8_t *data, int64_t size, int64_t at, int64_t merges, const uint8_t *tokens, int64_t tokens_size,
                                int64_t count, int32_t *out) {
    Table table = {0};
    const int bits = bits_for(merges);
    uint64_t *seen = merges > MOST_STRINGS ? 0 : calloc((size_t)1 << bits, sizeof *seen);
    uint8_t *made = malloc(tokens_size + 1);
    int is_sound = seen && made && fill_table(&table, tokens, tokens_size, count);
    String merge = {data + at, 0, size - at}; /* the first merge is behind it */
    for (int64_t i = 0; is_sound && i < merges; i++) {
        merge = behind(merge);
        const uint8_t *blank = merge.length > 1 ? memchr(merge.text + 1, ' ', merge.length - 1) : 0;
        is_sound = 0;
        if (!blank || merge.length > tokens_size) break;
        const int64_t cut = blank - merge.text, rest = merge.length - cut - 1;
        memcpy(made, merge.text, cut);
        memcpy(made + cut, blank + 1, rest);
        const uint32_t *first = find(&table, made, cut), *second = find(&table, made + cut, rest);
        const uint32_t *both = find(&table, made, cut + rest);
        if (!first || !second || !both || !*first || !*second || !*both) break;
        out[2 * i] = *first - 1;
        out[2 * i + 1] = *second - 1;
        is_sound = is_new(seen, bits, out[2 * i], out[2 * i + 1]);
    }
    free(made);
    free(seen);
    free_table(&table);
    return is_sound;
}

/* All pairs of tokens that make a token, for one token after the other in the order of `made`, the longest first token first.
   Only those in `made` count. `out` gets their numbers; returns how many pairs there are, or -1 where they need more than
   `room` numbers, or two tokens are the same. */
EXPORT int64_t headstart_cuts(const uint8_t *tokens, int64_t size, int64_t count, const int32_t *made, int64_t made_count, int32_t *out,
                              int64_t room) {
    Table table = {0};
    uint8_t *counts = calloc(count + 1, 1);
    int64_t found = counts && fill_table(&table, tokens, size, count) ? 0 : -1;
    for (int64_t i = 0; found >= 0 && i < made_count; i++) counts[made[i]] = 1;
    for (int64_t i = 0; found >= 0 && i < made_count; i++) {
        const String token = table.strings[made[i]];
        for (int64_t cut = token.length - 1; cut > 0; cut--) {
            if ((token.text[cut] & 0xc0) == 0x80) continue; /* inside a letter */
            const uint32_t *first = find(&table, token.text, cut);
            if (!first || !*first || !counts[*first - 1]) continue;
            const uint32_t *second = find(&table, token.text + cut, token.length - cut);
            if (!second || !*second || !counts[*second - 1]) continue;
            if (room < 2 * found + 2) {
                found = -1;
                break;
            }
            out[2 * found] = *first - 1;
            out[2 * found + 1] = *second - 1;
            found++;
        }
    }
    free(counts);
    free_table(&table);
    return found;
}
