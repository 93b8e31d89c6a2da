/* largest.c - the weights of a model that say most. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

typedef struct entry {
    double size;
    int64_t at;
} entry;

static int by_size(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size)
                              : (x->at > y->at) - (x->at < y->at);
}

mgv_status mgvi_model_largest(const mgv_model *m, int64_t output, int64_t count, int64_t *features,
                              int64_t *found)
{
    *found = 0;
    if (m->support >= 0)
        return MGV_OK;
    const double *coef = m->coef + output * m->features;
    entry *list = mgvi_alloc(m->ctx, (size_t)m->features, sizeof *list);
    if (!list)
        return MGV_E_MEMORY;
    int64_t nonzeros = 0;
    for (int64_t j = 0; j < m->features; j++)
        if (coef[j] != 0)
            list[nonzeros++] = (entry){fabs(coef[j]), j};
    qsort(list, (size_t)nonzeros, sizeof *list, by_size);
    *found = nonzeros < count ? nonzeros : count;
    for (int64_t k = 0; k < *found; k++)
        features[k] = list[k].at;
    mgvi_release(m->ctx, list);
    return MGV_OK;
}
