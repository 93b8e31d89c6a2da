/* probability.c - probabilities from the scores of a fit whose loss is minus a log likelihood. */
#include "model/model.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
    [MGVI_LINK_NONE] = "none", [MGVI_LINK_LOGISTIC] = "logistic", [MGVI_LINK_SOFTMAX] = "softmax"};

const char *mgvi_link_name(mgvi_link link) { return names[link]; }

mgvi_link mgvi_link_named(const char *name)
{
    for (int k = MGVI_LINK_LOGISTIC; k <= MGVI_LINK_SOFTMAX; k++)
        if (strcmp(name, names[k]) == 0)
            return (mgvi_link)k;
    return MGVI_LINK_NONE;
}

mgvi_link mgvi_model_link(const mgv_problem *p)
{
    if (!p->classify || !(p->loss->can & MGVI_LIKELIHOOD) || p->pairwise)
        return MGVI_LINK_NONE;
    return p->loss->joint ? MGVI_LINK_SOFTMAX : MGVI_LINK_LOGISTIC;
}

static double sigmoid(double z)
{
    const double e = exp(-fabs(z));
    return z > 0 ? 1 / (1 + e) : e / (1 + e);
}

/* (M2): the likelihood of each class against the rest, divided by their sum; their logarithms are
 * compared first so that tiny ones do not all become 0. */
static void against_rest(const double *score, int64_t classes, double *p)
{
    for (int64_t k = 0; k < classes; k++) /* log of the sigmoid */
        p[k] = (score[k] < 0 ? score[k] : 0) - log1p(exp(-fabs(score[k])));
}

/* (M3): e^z_k over their sum, the largest z first taken off. */
static void normalise(int64_t classes, double *p)
{
    double most = p[0], sum = 0;
    for (int64_t k = 1; k < classes; k++)
        most = p[k] > most ? p[k] : most;
    for (int64_t k = 0; k < classes; k++)
        sum += p[k] = exp(p[k] - most);
    for (int64_t k = 0; k < classes; k++)
        p[k] /= sum;
}

static void one_row(const mgv_model *m, const double *score, double *p)
{
    if (m->outputs == 1) { /* (M1) */
        p[1] = sigmoid(score[0]);
        p[0] = sigmoid(-score[0]);
        return;
    }
    if (m->link == MGVI_LINK_SOFTMAX)
        memcpy(p, score, (size_t)m->classes * sizeof *p);
    else
        against_rest(score, m->classes, p);
    normalise(m->classes, p);
}

mgv_status mgvi_model_probabilities(mgv_ctx *ctx, const mgv_model *m, int64_t rows,
                                    const double *scores, double *probabilities)
{
    if (m->link == MGVI_LINK_NONE)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         m->pairwise ? "votes of every two classes give no probabilities; fit with "
                                       "multiclass ovr or loss softmax"
                                     : "the loss of this model gives no probabilities; fit with "
                                       "loss logistic or softmax");
    for (int64_t i = 0; i < rows; i++)
        one_row(m, scores + i * m->outputs, probabilities + i * m->classes);
    return MGV_OK;
}
