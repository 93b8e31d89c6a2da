/* test_words.c - words get their numbers in order of first sight, however many there are. */
#include "base/words.h"
#include "check.h"

#include <string.h>

TEST(numbers_come_in_order_and_stay)
{
    enum { COUNT = 5000 };
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_words *words;
    int64_t number;
    char text[32];
    CHECK_OK(ctx, mgvi_words_new(ctx, &words));
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < COUNT; k++) {
            snprintf(text, sizeof text, "w%dx", k * k % 99991);
            CHECK_OK(ctx, mgvi_words_add(words, text, strlen(text), &number));
            CHECK(strcmp(mgvi_words_at(words, number), text) == 0);
            CHECK(mgvi_words_find(words, text, strlen(text)) == number);
            if (round == 0 && k < 300)
                CHECK(number == k);
        }
    const int64_t count = mgvi_words_count(words);
    size_t bytes;
    const char *all = mgvi_words_text(words, &bytes);
    CHECK(count <= COUNT && count > COUNT / 2 && all[bytes - 1] == 0);
    CHECK(mgvi_words_find(words, "w", 1) == -1 && mgvi_words_find(words, "w0xy", 4) == -1);
    CHECK_OK(ctx, mgvi_words_add(words, "", 0, &number)); /* a word like others */
    CHECK(number == count && mgvi_words_find(words, "", 0) == count);
    mgvi_words_free(words);
    mgvi_words_free(NULL);
    mgv_ctx_free(ctx);
}

int main(void) { return RUN(numbers_come_in_order_and_stay); }
