/* The compiled part for every other processor: in portable C, which becomes NEON on ARM. And what all forms share. */

#define FORM(name) name##_plain
#include "step.c"
#include "rows.c"
#include "prompt.c"
#include "widen.c"
#include "read.c"
#include "layers.c"

/* What Python compares with its own before it calls anything. */
EXPORT const int32_t headstart_layout[] = {VERSION,       sizeof(Matrix), sizeof(Layer),    sizeof(Model),
                                           sizeof(Tokens), sizeof(Heads),  sizeof(Attention), sizeof(Prompt)};
