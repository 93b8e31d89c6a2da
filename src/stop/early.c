/* early.c - reads the part of the setting `select` that a single run follows; src/select/ has
 * refused what is malformed. */
#include "stop/early.h"

#include <math.h>
#include <string.h>

mgvi_early mgvi_early_read(const mgv_problem *problem, const mgv_settings *settings)
{
    static const char word[] = "discrepancy:";
    const char *text = settings->select;
    mgvi_early out = {.noise = NAN};
    if (!(problem->loss->can & MGVI_HARD))
        return out;
    if (strncmp(text, word, sizeof word - 1) == 0)
        out.on = mgvi_parse_real(text + sizeof word - 1, &out.noise);
    else
        out.on = strcmp(text, "last") == 0;
    return out;
}
