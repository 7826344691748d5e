/* Attention of many tokens at once, whose numbers for a token hang on that token and those before it alone, and not on
   how many are computed with it: what `engine/llama/attention.py` calls.

   Keys are taken in blocks that begin at multiples of KEYS tokens, each its whole width; what is behind the last token
   counts nothing. The softmaxes of the blocks are joined on the way (https://arxiv.org/abs/2205.14135), in fp32 and from
   the first block to the last. A block of which a token sees nothing changes none of its numbers, so it does not matter
   with which others a token shares a tile. Which of the ways in `tiles.h` computes is the caller's choice. */

#include <math.h>
#include <omp.h>
#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#endif
#ifdef __AVX2__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include "model.h"
#include "softmax.h"
#include "tiles.h"

enum {
    ROWS = 96,               /* queries that a thread takes at a time */
    LEAST_ROWS = 48,         /* ROWS is a multiple of it, and it of what each way rounds up to */
    MOST_PACKED = 32 << 20,  /* bytes of packed keys and values that are held at a time, but for a single KV head */
    MOST_SHARING = 64        /* threads that divide blocks evenly */
};

/* Sizes in numbers. `key`, `value`: dims as they are packed. `tiles`: how many the rows of a KV head make. `head`, `own`:
   bytes of what is packed of a KV head at a time, and of what a thread computes in. */
typedef struct {
    int key, value, blocks, group, tiles, bytes;
    size_t key_block, value_block, block, head, own;
} Sizes;

static Sizes sizes(const Attention *a) {
    Sizes s = {.key = whole(a->key_dim, DEPTH), .value = whole(a->value_dim, DEPTH)};
    s.blocks = (a->end + KEYS - 1) / KEYS;
    s.group = a->heads / a->kv_heads;
    s.tiles = (a->rows * s.group + ROWS - 1) / ROWS;
    s.bytes = a->kind >= AVX512_BF16 ? 2 : 4;
    s.key_block = (size_t)KEYS * s.key * s.bytes;
    s.value_block = (size_t)KEYS * s.value * s.bytes;
    s.block = s.key_block + s.value_block;
    s.head = s.blocks * s.block;
    /* queries, scores, weights, sums, and for each row the highest score, the sum of weights and what is kept */
    s.own = ROWS * ((size_t)s.key * s.bytes + KEYS * 4 + KEYS * s.bytes + s.value * 4 + 3 * 4);
    s.own = whole(s.own, LINE);
    return s;
}

static int heads_at_once(const Attention *a, const Sizes *s) {
    const size_t fit = MOST_PACKED / s->head;
    return fit < 1 ? 1 : fit < (size_t)a->kv_heads ? (int)fit : a->kv_heads;
}

/* Bytes of `Attention.scratch`. */
EXPORT int64_t FORM(headstart_attention_scratch)(const Attention *a) {
    const Sizes s = sizes(a);
    const size_t threads = omp_get_max_threads();
    if (s.tiles == 1) return (int64_t)(threads * (s.block + 2 * s.own) + 64);
    return (int64_t)(heads_at_once(a, &s) * s.head + threads * s.own + 64);
}

/* The widest way there is here for numbers of a type. */
EXPORT int32_t FORM(headstart_widest)(int32_t is_bf16) {
#ifdef __AVX2__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")) return BY_EIGHTS;
#if __GNUC__ >= 11 /* as in tiles.h */
    if (is_bf16 && __builtin_cpu_supports("avx512bf16")) {
        unsigned a = 7, b = 0, c = 0, d = 0;
        __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        const int has_amx = (d >> 22 & 1) && (d >> 24 & 1);
        /* Linux lets a process use these registers after it asked: ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
        return has_amx && syscall(SYS_arch_prctl, 0x1023, 18) == 0 ? AMX : AVX512_BF16;
    }
#endif
    return AVX512;
#endif
    (void)is_bf16;
    return BY_EIGHTS;
}

INLINE float number(const void *from, size_t at, int is_bf16) {
    return is_bf16 ? wide(((const uint16_t *)from)[at]) : ((const float *)from)[at];
}

/* One block of keys, `[group of 16 keys][dim][16]`; where pairs of bf16 are computed with, two dims in a word. */
INLINE void pack_keys(const Attention *a, const Sizes *s, size_t at, int count, float *to, int is_bf16) {
    for (int key = 0; key < count; key++, at += a->key_row) {
        float *lane = to + key / COLUMNS * COLUMNS * s->key + key % COLUMNS;
        for (int i = 0; i < a->key_dim; i++) lane[i * COLUMNS] = number(a->keys, at + i, is_bf16);
    }
}

/* One block of values, `[group of 16 dims][key][16]`; there, two keys in a word. */
INLINE void pack_values(const Attention *a, size_t at, int count, float *to, int is_bf16) {
    for (int key = 0; key < count; key++, at += a->value_row)
        for (int start = 0; start < a->value_dim; start += COLUMNS) {
            float *lane = to + start * KEYS + key * COLUMNS;
            const int dims = a->value_dim - start < COLUMNS ? a->value_dim - start : COLUMNS;
            for (int i = 0; i < dims; i++) lane[i] = number(a->values, at + start + i, is_bf16);
        }
}

#ifdef __AVX2__
/* Sixteen words of a row of keys or values, from the dim `first` on: numbers as they are computed with, or pairs of
   bf16; zeros from `dims` on. */
WIDE INLINE __m512i words_of(const void *rows, size_t at, int first, int dims, int is_bf16, int in_pairs) {
    const int left = dims - first;
    if (in_pairs) {
        const __mmask32 there = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;
        return _mm512_maskz_loadu_epi16(there, (const uint16_t *)rows + at + first);
    }
    const __mmask16 there = left >= 16 ? 0xffff : left > 0 ? (1u << left) - 1 : 0;
    if (!is_bf16) return _mm512_maskz_loadu_epi32(there, (const float *)rows + at + first);
    const __m512i halves = _mm512_maskz_loadu_epi16(there, (const uint16_t *)rows + at + first);
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(halves)), 16);
}

/* What is packed next, one block on, is on its way meanwhile. An address behind the last key does no harm. */
INLINE void fetch_ahead(const void *from, size_t at, int is_bf16) {
    _mm_prefetch((const char *)((uintptr_t)from + at * (is_bf16 ? 2 : 4)), _MM_HINT_T1);
}

/* As `pack_keys`, sixteen by sixteen words, with zeros behind the last key and dim. */
WIDE INLINE void pack_keys_wide(const Attention *a, const Sizes *s, size_t at, int count, uint32_t *to, int is_bf16, int in_pairs) {
    const int dims = in_pairs ? 32 : 16; /* of sixteen words */
    for (int key = 0; key < KEYS; key += COLUMNS)
        for (int first = 0; first < s->key; first += dims, to += 16 * COLUMNS) {
            __m512i words[16];
            for (int i = 0; i < 16; i++) {
                const size_t from = at + (key + i) * a->key_row;
                words[i] = words_of(a->keys, from, first, key + i < count ? a->key_dim : 0, is_bf16, in_pairs);
                fetch_ahead(a->keys, from + first + KEYS * a->key_row, is_bf16);
            }
            turn16(words);
            for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + i * COLUMNS, words[i]);
        }
}

/* As `pack_values`, with zeros. */
WIDE INLINE void pack_values_wide(const Attention *a, const Sizes *s, size_t at, int count, uint32_t *to, int is_bf16) {
    for (int first = 0; first < s->value; first += COLUMNS)
        for (int key = 0; key < KEYS; key++, to += COLUMNS) {
            const size_t from = at + key * a->value_row;
            _mm512_storeu_si512(to, words_of(a->values, from, first, key < count ? a->value_dim : 0, is_bf16, 0));
            fetch_ahead(a->values, from + first + KEYS * a->value_row, is_bf16);
        }
}

/* The same in pairs of keys. */
WIDE static void pack_value_pairs_wide(const Attention *a, const Sizes *s, size_t at, int count, uint32_t *to) {
    for (int first = 0; first < s->value; first += COLUMNS)
        for (int key = 0; key < KEYS; key += 2, to += COLUMNS) {
            const size_t from = at + key * a->value_row;
            const __m512i own = words_of(a->values, from, first, key < count ? a->value_dim : 0, 1, 0);
            const __m512i next = words_of(a->values, from + a->value_row, first, key + 1 < count ? a->value_dim : 0, 1, 0);
            _mm512_storeu_si512(to, _mm512_or_si512(_mm512_srli_epi32(own, 16), next));
            fetch_ahead(a->values, from + first + KEYS * a->value_row, 1);
            fetch_ahead(a->values, from + first + (KEYS + 1) * a->value_row, 1);
        }
}

WIDE static void pack_wide(const Attention *a, const Sizes *s, size_t key, size_t value, int count, void *keys, void *values) {
    if (s->bytes == 2) {
        pack_keys_wide(a, s, key, count, keys, 1, 1);
        pack_value_pairs_wide(a, s, value, count, values);
    } else if (a->is_bf16) {
        pack_keys_wide(a, s, key, count, keys, 1, 0);
        pack_values_wide(a, s, value, count, values, 1);
    } else {
        pack_keys_wide(a, s, key, count, keys, 0, 0);
        pack_values_wide(a, s, value, count, values, 0);
    }
}
#endif

/* What is behind the last token, and what fills dims up, is zero. */
static void pack(const Attention *a, const Sizes *s, int kv_head, int block, char *keys) {
    void *values = keys + s->key_block;
    const int first = block * KEYS, count = a->end - first < KEYS ? a->end - first : KEYS;
    const size_t key = kv_head * a->key_head + first * a->key_row, value = kv_head * a->value_head + first * a->value_row;
#ifdef __AVX2__
    if (a->kind != BY_EIGHTS) {
        pack_wide(a, s, key, value, count, keys, values);
        return;
    }
#endif
    if (count < KEYS || s->key != a->key_dim || s->value != a->value_dim) memset(keys, 0, s->block);
    if (a->is_bf16) {
        pack_keys(a, s, key, count, (float *)keys, 1);
        pack_values(a, value, count, values, 1);
    } else {
        pack_keys(a, s, key, count, (float *)keys, 0);
        pack_values(a, value, count, values, 0);
    }
}

/* What a thread computes a tile in. Row `row` of it is the query head `(first + row) % group` of its KV head, of token
   `(first + row) / group` of the piece. */
typedef struct {
    int first, rows;
    char *queries, *weights;
    float *scores, *sums, *highest, *total, *kept;
} Tile;

static Tile place_tile(const Attention *a, const Sizes *s, int first, char *own) {
    const int all = a->rows * s->group;
    Tile t = {.first = first, .rows = all - first < ROWS ? all - first : ROWS};
    t.sums = (float *)own;
    t.scores = t.sums + ROWS * s->value;
    t.highest = t.scores + ROWS * KEYS;
    t.total = t.highest + ROWS;
    t.kept = t.total + ROWS;
    t.queries = (char *)(t.kept + ROWS);
    t.weights = t.queries + ROWS * s->key * s->bytes;
    return t;
}

static Tile begin_tile(const Attention *a, const Sizes *s, int kv_head, int first, char *own) {
    const Tile t = place_tile(a, s, first, own);
    const size_t used = whole(t.rows, LEAST_ROWS);
    memset(t.sums, 0, sizeof(float) * used * s->value);
    memset(t.queries, 0, used * s->key * s->bytes);
    memset(t.weights, 0, used * KEYS * s->bytes);
    for (int row = 0; row < t.rows; row++) {
        const int head = kv_head * s->group + (first + row) % s->group;
        const size_t at = (first + row) / s->group * a->query_row + head * a->query_head;
        if (s->bytes == 2)
            memcpy(t.queries + (size_t)row * s->key * 2, (const uint16_t *)a->queries + at, 2 * a->key_dim);
        else
            for (int i = 0; i < a->key_dim; i++)
                ((float *)t.queries)[row * s->key + i] = number(a->queries, at + i, a->is_bf16);
        t.highest[row] = a->sinks ? a->sinks[head] : -INFINITY;
        t.total[row] = a->sinks ? 1.0f : 0.0f;
    }
    return t;
}

/* How many keys of a block a token sees where it sees all up to itself. */
INLINE int seen_by(const Attention *a, int row, int first) {
    const int count = a->end - a->rows + row + 1 - first;
    return count < 0 ? 0 : count < KEYS ? count : KEYS;
}

/* Whether a token of the tile sees a key of the block. */
static int is_seen(const Attention *a, const Sizes *s, const Tile *t, int block) {
    const int from = t->first / s->group, last = (t->first + t->rows - 1) / s->group;
    const int count = seen_by(a, last, block * KEYS), width = count < a->end - block * KEYS ? count : a->end - block * KEYS;
    if (!a->seen) return count > 0;
    for (int row = from; row <= last; row++)
        if (memchr(a->seen + row * a->seen_row + block * KEYS, 1, width > 0 ? width : 0)) return 1;
    return 0;
}

/* One block for one tile: scores, weights, and the weighted values added to the sums. */
static void attend_block(const Attention *a, const Sizes *s, Tile *t, int block, const char *keys) {
    const int first = block * KEYS;
    tile(a->kind, t->queries, t->rows, s->key, keys, KEYS, t->scores, 0);
    for (int row = 0; row < t->rows; row++) {
        const int token = (t->first + row) / s->group;
        const uint8_t *seen = a->seen ? a->seen + token * a->seen_row + first : 0;
        const Rule rule = {seen, seen_by(a, token, first), a->scale, a->softcap};
        void *weights = t->weights + (size_t)row * KEYS * s->bytes;
        float *scores = t->scores + row * KEYS;
#ifdef __AVX2__
        if (s->bytes == 2) t->kept[row] = weigh_rounding(rule, scores, t->highest + row, t->total + row, weights);
        else if (a->kind != BY_EIGHTS) t->kept[row] = weigh_avx512(rule, scores, t->highest + row, t->total + row, weights);
        else
#endif
            t->kept[row] = weigh_eights(rule, scores, t->highest + row, t->total + row, weights);
        if (t->kept[row] != 1.0f)
            for (int i = 0; i < s->value; i++) t->sums[row * s->value + i] *= t->kept[row];
    }
    tile(a->kind, t->weights, t->rows, KEYS, keys + s->key_block, s->value, t->sums, 1);
}

static void end_tile(const Attention *a, const Sizes *s, int kv_head, const Tile *t) {
    for (int row = 0; row < t->rows; row++) {
        const int head = kv_head * s->group + (t->first + row) % s->group;
        const size_t at = ((size_t)((t->first + row) / s->group) * a->heads + head) * a->value_dim;
        float *own = t->sums + row * s->value;
        for (int i = 0; i < a->value_dim; i++) own[i] /= t->total[row];
        int i = 0;
        for (; i + 8 <= a->value_dim; i += 8) store8(a->out, at + i, a->is_bf16, read8(own + i));
        for (; i < a->value_dim; i++) store1(a->out, at + i, a->is_bf16, own[i]);
    }
}

/* The blocks from `first` up to `last` of the only tile of a KV head: each is packed where it is read at once. The tile begins
   with its first block, and ends with its last. */
static void attend_alone(const Attention *a, const Sizes *s, int kv_head, int first, int last, char *packed, char *own) {
    Tile t = first ? place_tile(a, s, 0, own) : begin_tile(a, s, kv_head, 0, own);
    for (int block = first; block < last; block++)
        if (is_seen(a, s, &t, block)) {
            pack(a, s, kv_head, block, packed);
            attend_block(a, s, &t, block, packed);
        }
    if (last == s->blocks) end_tile(a, s, kv_head, &t);
}

static void let_others(void) {
#if defined(__unix__) || defined(__APPLE__)
    sched_yield();
#endif
}

/* Where a thread has its part of what is computed: what it packs, a tile, and one that it begins and the next thread ends. */
static char *room_of(const Sizes *s, char *parts, int thread) { return parts + thread * (s->block + 2 * s->own); }

/* The only tiles of all KV heads, by a thread of some that have equal parts of all blocks. A tile that two of them share is begun
   first of all by the one, and ended last of all by the other: every sum is made in one order, and hardly anybody waits. `begun`
   is for each thread whether the next may go on with its last tile. */
static void attend_share(const Attention *a, const Sizes *s, int thread, int threads, char *parts, int *begun) {
    const int all = a->kv_heads * s->blocks, first = (int64_t)all * thread / threads, last = (int64_t)all * (thread + 1) / threads;
    char *packed = room_of(s, parts, thread), *own = packed + s->block;
    if (last % s->blocks) {
        attend_alone(a, s, last / s->blocks, 0, last % s->blocks, packed, own + s->own);
        __atomic_store_n(begun + thread, 1, __ATOMIC_RELEASE);
    }
    for (int kv_head = (first + s->blocks - 1) / s->blocks; kv_head < last / s->blocks; kv_head++)
        attend_alone(a, s, kv_head, 0, s->blocks, packed, own);
    if (first % s->blocks) {
        while (!__atomic_load_n(begun + thread - 1, __ATOMIC_ACQUIRE)) let_others();
        char *const left = room_of(s, parts, thread - 1) + s->block + s->own;
        attend_alone(a, s, first / s->blocks, first % s->blocks, s->blocks, packed, left);
    }
}

/* One of several tiles, which all read the same packed blocks. */
static void attend_packed(const Attention *a, const Sizes *s, int kv_head, int tile, const char *packed, char *own) {
    Tile t = begin_tile(a, s, kv_head, tile * ROWS, own);
    for (int block = 0; block < s->blocks; block++, packed += s->block)
        if (is_seen(a, s, &t, block)) attend_block(a, s, &t, block, packed);
    end_tile(a, s, kv_head, &t);
}

/* Tiles that all read the same packed blocks: a part of the KV heads at a time, first their keys and values are packed, then
   read. By all threads. */
static void attend_in_turn(const Attention *a, const Sizes *s, char *packed, char *own) {
    const int at_once = heads_at_once(a, s);
    for (int start = 0; start < a->kv_heads; start += at_once) {
        const int heads = a->kv_heads - start < at_once ? a->kv_heads - start : at_once;
#pragma omp for schedule(static)
        for (int unit = 0; unit < heads * s->blocks; unit++)
            pack(a, s, start + unit / s->blocks, unit % s->blocks, packed + unit * s->block);
#pragma omp for schedule(dynamic, 1)
        for (int unit = 0; unit < heads * s->tiles; unit++) {
            const int kv_head = unit % heads, tile = s->tiles - 1 - unit / heads; /* the longest first */
            attend_packed(a, s, start + kv_head, tile, packed + kv_head * s->head, own);
        }
    }
}

/* out `[rows, heads, value_dim]`. */
EXPORT void FORM(headstart_attend)(const Attention *a) {
    const Sizes s = sizes(a);
    char *packed = (char *)whole((uintptr_t)a->scratch, LINE);
    int begun[MOST_SHARING] = {0};
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        begin_tiles(a->kind);
        if (s.tiles > 1) attend_in_turn(a, &s, packed, packed + heads_at_once(a, &s) * s.head + thread * s.own);
        else if (threads <= MOST_SHARING && threads <= a->kv_heads) attend_share(a, &s, thread, threads, packed, begun);
        else {
            char *const own = room_of(&s, packed, thread);
#pragma omp for schedule(dynamic, 1)
            for (int kv_head = 0; kv_head < a->kv_heads; kv_head++)
                attend_alone(a, &s, kv_head, 0, s.blocks, own, own + s.block);
        }
        end_tiles(a->kind);
    }
}
