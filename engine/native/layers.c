/* A prompt through the layers of a model: `engine/llama/compiled_pass.py` calls this once for some layers, where each step
   of each layer would be a call of its own. Rows are bf16, and the steps those of `rows.c`, `read.c` and `prompt.c`, which give
   a token the same bits whatever others are computed with it.

   For plain layers: norms before attention and feed-forward, each head turned as a whole, and every token seeing all up
   to itself. */

#include "model.h"
#include "places.h"

/* Where in `Prompt.scratch` the rows are that steps hand on, and what products and attention compute in. */
typedef struct {
    void *normed, *fused, *mixed, *added, *gate_up, *acted, *product, *attention;
} Room;

static Heads layer_heads(const Model *model, const Prompt *prompt, int index) {
    return heads_of(model, index, prompt->keys, prompt->values, prompt->capacity);
}

/* Attention of the last `rows` tokens, but for where queries are and what comes of them. */
static Attention attention_of(const Model *model, const Prompt *prompt, const Heads *heads, int rows) {
    const int64_t row = (int64_t)(model->heads + 2 * model->kv_heads) * model->dim, head = (int64_t)prompt->capacity * model->dim;
    return (Attention){.keys = heads->keys, .values = heads->values, .query_row = row, .query_head = model->dim,
                       .key_row = model->dim, .key_head = head, .value_row = model->dim, .value_head = head,
                       .heads = model->heads, .kv_heads = model->kv_heads, .key_dim = model->dim, .value_dim = model->dim,
                       .rows = rows, .end = prompt->position + prompt->count, .is_bf16 = 1, .kind = prompt->kind,
                       .scale = prompt->scale};
}

/* What the product that needs most of it computes in. */
static int64_t product_scratch(const Model *model, int count) {
    const int columns[] = {model->width, model->heads * model->dim, model->inner};
    int64_t most = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t needed = FORM(headstart_read_scratch)(count, columns[i]);
        most = needed > most ? needed : most;
    }
    return most;
}

/* The parts of a scratch that begins at `from`, each at a whole cache line; returns where they end. */
static uintptr_t arrange(const Model *model, const Prompt *prompt, uintptr_t from, Room *room) {
    const Heads heads = layer_heads(model, prompt, 0);
    const Attention one = attention_of(model, prompt, &heads, 1), all = attention_of(model, prompt, &heads, prompt->count);
    const int64_t of_one = FORM(headstart_attention_scratch)(&one), of_all = FORM(headstart_attention_scratch)(&all);
    const int64_t row = 2 * (int64_t)prompt->count, queries = model->heads * model->dim;
    const struct {
        void **part;
        int64_t bytes;
    } parts[] = {{&room->normed, row * model->width},
                 {&room->fused, row * (queries + 2 * model->kv_heads * model->dim)},
                 {&room->mixed, row * queries},
                 {&room->added, row * model->width},
                 {&room->gate_up, row * 2 * model->inner},
                 {&room->acted, row * model->inner},
                 {&room->product, product_scratch(model, prompt->count)},
                 {&room->attention, of_one > of_all ? of_one : of_all}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        from = whole(from, LINE);
        *parts[i].part = (void *)from;
        from += parts[i].bytes;
    }
    return from;
}

/* Bytes of `Prompt.scratch`. */
EXPORT int64_t FORM(headstart_read_layers_scratch)(const Model *model, const Prompt *prompt) {
    Room room;
    return arrange(model, prompt, 0, &room) + 64;
}

/* Behind attention the last layer computes the last row only: of all others, nothing but keys and values is needed. */
static void read_layer(const Model *model, const Prompt *prompt, int index, const Room *room) {
    const Layer *layer = model->layers + index;
    const int all = prompt->count, width = model->width, count = index == model->num_layers - 1 ? 1 : all;
    void *const left = (uint16_t *)prompt->hidden + (size_t)(all - count) * width;
    const Heads heads = layer_heads(model, prompt, index);
    Attention attention = attention_of(model, prompt, &heads, count);
    attention.queries = (uint16_t *)room->fused + (all - count) * attention.query_row;
    attention.out = room->mixed;
    attention.scratch = room->attention;
    FORM(headstart_normalise)(prompt->hidden, index ? room->added : 0, layer->input_norm, room->normed, all, width, model->epsilon, 1);
    FORM(headstart_read_rows)(&layer->qkv, room->normed, all, width, room->fused, room->product);
    FORM(headstart_place)(&heads, room->fused, prompt->cos, prompt->sin, all, prompt->position);
    FORM(headstart_attend)(&attention);
    FORM(headstart_read_rows)(&layer->output, room->mixed, count, model->heads * model->dim, room->added, room->product);
    FORM(headstart_normalise)(left, room->added, layer->post_norm, room->normed, count, width, model->epsilon, 1);
    FORM(headstart_read_rows)(&layer->gate_up, room->normed, count, width, room->gate_up, room->product);
    FORM(headstart_gate)(room->gate_up, room->acted, count, model->inner, 1);
    FORM(headstart_read_rows)(&layer->down, room->acted, count, model->inner, room->added, room->product);
}

/* The layers from `first` up to `last`, one after the other from the first on, and behind the last of all the last norm. What
   one call leaves in `hidden` and `scratch` is what the next goes on with. */
EXPORT void FORM(headstart_read_layers)(const Model *model, const Prompt *prompt, int32_t first, int32_t last) {
    Room room;
    Places places;
    arrange(model, prompt, (uintptr_t)prompt->scratch, &room);
#pragma omp parallel
    take_places(&places);
    for (int index = first; index < last; index++) read_layer(model, prompt, index, &room);
#pragma omp parallel
    leave_places(&places);
    if (last < model->num_layers) return;
    void *const left = (uint16_t *)prompt->hidden + (size_t)(prompt->count - 1) * model->width;
    FORM(headstart_normalise)(left, room.added, model->norm, prompt->out, 1, model->width, model->epsilon, 1);
}
