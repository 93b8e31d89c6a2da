/* votes.c - counts votes. */
#include "problem/votes.h"

/* Whether the pair of classes a < b of k votes for b. */
static bool votes_second(const double *scores, int64_t k, int64_t a, int64_t b)
{
    return scores[a * (2 * k - a - 1) / 2 + b - a - 1] > 0;
}

static int64_t count_votes(const double *scores, int64_t k)
{
    int64_t best = 0, most = -1;
    for (int64_t c = 0; c < k; c++) {
        int64_t votes = 0;
        for (int64_t other = 0; other < k; other++)
            if (other != c)
                votes += c < other ? !votes_second(scores, k, c, other)
                                   : votes_second(scores, k, other, c);
        if (votes > most) {
            most = votes;
            best = c;
        }
    }
    return best;
}

int64_t mgvi_classes_decide(const double *scores, int64_t classes, bool pairwise)
{
    if (pairwise)
        return count_votes(scores, classes);
    int64_t best = 0;
    for (int64_t k = 1; k < classes; k++)
        if (scores[k] > scores[best])
            best = k;
    return best;
}
