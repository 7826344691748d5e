/* Strings that lie behind each other in a file, each with its length before it, as a GGUF file has its lists of them. */

#include <string.h>
#include "model.h"

/* Where `count` strings end, the first of which begins at byte `at` of `size`; -1 where they reach past the end. With `out`
   they are copied there, a zero behind each, if `room` bytes are enough for all of that, else the result is -1. What is
   read may change meanwhile, as it lies in a file: nothing is taken for granted that was read before. */
EXPORT int64_t headstart_strings(const uint8_t *data, int64_t size, int64_t at, int64_t count, uint8_t *out, int64_t room) {
    for (; count > 0; count--) {
        uint64_t length;
        if (at > size - (int64_t)sizeof length) return -1;
        memcpy(&length, data + at, sizeof length);
        at += sizeof length;
        if (length > (uint64_t)(size - at)) return -1;
        if (out) {
            if (room < (int64_t)length + 1) return -1;
            memcpy(out, data + at, length);
            out[length] = 0;
            out += length + 1;
            room -= length + 1;
        }
        at += length;
    }
    return at;
}
