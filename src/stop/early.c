/* early.c - reads the part of the setting `select` that a single run follows; src/select/ has
 * refused what is malformed. */
#include "stop/early.h"

#include <math.h>
#include <string.h>

/* Whether `text` is `word`, a colon and a number. */
static bool read_noise(const char *text, const char *word, double *out)
{
    const char *number = mgvi_after_word(text, word);
    return number && mgvi_parse_real(number, out);
}

mgvi_early mgvi_early_read(const mgv_problem *problem, const mgv_settings *settings)
{
    const char *text = settings->select;
    mgvi_early out = {.noise = NAN};
    if (!(problem->loss->can & MGVI_HARD))
        return out;
    out.apriori = read_noise(text, "apriori", &out.noise);
    out.on =
        out.apriori || read_noise(text, "discrepancy", &out.noise) || strcmp(text, "last") == 0;
    return out;
}
