/* words.c - a table with open addressing over one block of text. */
#include "base/words.h"

#include "base/hash.h"

#include <string.h>

struct mgvi_words {
    mgv_ctx *ctx;
    char *text; /* the words with their terminators */
    size_t used, room;
    size_t *begin; /* of each word in `text` */
    int64_t count, capacity;
    int32_t *slot; /* -1: free; else a word's number. A power of two, at most half of it taken */
    size_t slots;
};

enum { FIRST_WORDS = 64, FIRST_BYTES = 1024 };

static uint64_t hash(const char *word, size_t length)
{
    const uint64_t h = mgvi_hash(MGVI_HASH_BEGIN, word, length);
    return h ^ h >> 32;
}

mgv_status mgvi_words_new(mgv_ctx *ctx, mgvi_words **out)
{
    mgvi_words *w = mgvi_new(ctx, sizeof *w);
    *out = NULL;
    if (!w)
        return MGV_E_MEMORY;
    *w = (mgvi_words){
        .ctx = ctx, .room = FIRST_BYTES, .capacity = FIRST_WORDS, .slots = 2 * FIRST_WORDS};
    w->text = mgvi_alloc(ctx, w->room, 1);
    w->begin = mgvi_alloc(ctx, (size_t)w->capacity, sizeof *w->begin);
    w->slot = mgvi_alloc(ctx, w->slots, sizeof *w->slot);
    if (!w->text || !w->begin || !w->slot) {
        mgvi_words_free(w);
        return MGV_E_MEMORY;
    }
    memset(w->slot, -1, w->slots * sizeof *w->slot);
    *out = w;
    return MGV_OK;
}

void mgvi_words_free(mgvi_words *w)
{
    if (!w)
        return;
    mgvi_release(w->ctx, w->text);
    mgvi_release(w->ctx, w->begin);
    mgvi_release(w->ctx, w->slot);
    mgvi_release(w->ctx, w);
}

int64_t mgvi_words_count(const mgvi_words *w) { return w->count; }

const char *mgvi_words_at(const mgvi_words *w, int64_t number)
{
    return w->text + w->begin[number];
}

const char *mgvi_words_text(const mgvi_words *w, size_t *bytes)
{
    *bytes = w->used;
    return w->text;
}

/* The slot that holds the word, or the free one where it belongs. */
static size_t find_slot(const mgvi_words *w, const char *word, size_t length)
{
    size_t at = (size_t)hash(word, length) & (w->slots - 1);
    for (; w->slot[at] >= 0; at = (at + 1) & (w->slots - 1)) {
        const char *known = mgvi_words_at(w, w->slot[at]);
        if (strncmp(known, word, length) == 0 && !known[length])
            break;
    }
    return at;
}

int64_t mgvi_words_find(const mgvi_words *w, const char *word, size_t length)
{
    return w->slot[find_slot(w, word, length)];
}

/* Twice as many words and slots. */
static mgv_status grow_table(mgvi_words *w)
{
    const size_t slots = 2 * w->slots;
    size_t *begin =
        mgvi_grow(w->ctx, w->begin, (size_t)w->count, 2 * (size_t)w->capacity, sizeof *w->begin);
    if (!begin)
        return MGV_E_MEMORY;
    w->begin = begin;
    int32_t *slot = mgvi_alloc(w->ctx, slots, sizeof *slot);
    if (!slot)
        return MGV_E_MEMORY;
    mgvi_release(w->ctx, w->slot);
    w->slot = slot;
    w->slots = slots;
    w->capacity *= 2;
    memset(slot, -1, slots * sizeof *slot);
    for (int64_t k = 0; k < w->count; k++) {
        const char *word = mgvi_words_at(w, k);
        w->slot[find_slot(w, word, strlen(word))] = (int32_t)k;
    }
    return MGV_OK;
}

static mgv_status grow_text(mgvi_words *w, size_t more)
{
    size_t room = w->room;
    while (room - w->used < more)
        room *= 2;
    char *text = mgvi_grow(w->ctx, w->text, w->used, room, 1);
    if (!text)
        return MGV_E_MEMORY;
    w->text = text;
    w->room = room;
    return MGV_OK;
}

mgv_status mgvi_words_add(mgvi_words *w, const char *word, size_t length, int64_t *number)
{
    const int64_t known = mgvi_words_find(w, word, length);
    if (known >= 0) {
        *number = known;
        return MGV_OK;
    }
    if (w->count == INT32_MAX)
        return MGVI_FAIL(w->ctx, MGV_E_UNSUPPORTED, "more than 2^31 - 1 different names");
    if (w->room - w->used < length + 1)
        MGVI_TRY(grow_text(w, length + 1));
    if (w->count == w->capacity)
        MGVI_TRY(grow_table(w));
    w->slot[find_slot(w, word, length)] = (int32_t)w->count;
    w->begin[w->count] = w->used;
    memcpy(w->text + w->used, word, length);
    w->text[w->used + length] = 0;
    w->used += length + 1;
    *number = w->count++;
    return MGV_OK;
}
