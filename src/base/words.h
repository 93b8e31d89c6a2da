/* base/words.h - different words, numbered from 0 in the order they were first met. */
#ifndef MGVI_BASE_WORDS_H
#define MGVI_BASE_WORDS_H

#include "base/memory.h"

typedef struct mgvi_words mgvi_words;
mgv_status mgvi_words_new(mgv_ctx *ctx, mgvi_words **out);
void mgvi_words_free(mgvi_words *words); /* NULL is accepted */
int64_t mgvi_words_count(const mgvi_words *words);
/* The word with this number, with its terminator. */
const char *mgvi_words_at(const mgvi_words *words, int64_t number);
/* The number of the word of `length` bytes, which have no zero among them; -1: not met yet. */
int64_t mgvi_words_find(const mgvi_words *words, const char *word, size_t length);
/* The same, and the word is met now. At most 2^31 - 1 words: MGV_E_UNSUPPORTED. */
mgv_status mgvi_words_add(mgvi_words *words, const char *word, size_t length, int64_t *number);
/* All words, each with its terminator, one after the other; *bytes of them. */
const char *mgvi_words_text(const mgvi_words *words, size_t *bytes);
#endif
