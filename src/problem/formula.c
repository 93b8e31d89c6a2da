/* formula.c - the objective as text, with its numbers. */
#include "problem/problem.h"

#include "base/print.h"

#include <stdio.h>
#include <string.h>

enum { FORMULA_MAX = 1024 };

static void penalty_text(const mgv_problem *p, char *out, size_t size)
{
    const unsigned parts = mgvi_penalty_parts(p->penalty);
    const double strength = p->penalty->can & MGVI_NORM ? p->mu : p->lambda;
    const bool power = !parts && p->p <= 2;
    if (power && mgvi_problem_has_margin(p)) /* the margin's units, (7) */
        mgvi_print(out, size, "1/2 |w|_%.6g^2", p->p);
    else if (power)
        mgvi_print(out, size, "%.6g/%.6g |w|_%.6g^%.6g", p->lambda, p->p, p->p, p->p);
    else if (parts == MGVI_SQUARE)
        mgvi_print(out, size, "%.6g/2 |w|^2", p->lambda);
    else if (parts == MGVI_ABS)
        mgvi_print(out, size, "%.6g |w|_1", p->mu);
    else if (parts)
        mgvi_print(out, size, "%.6g/2 |w|^2 + %.6g |w|_1", p->lambda, p->mu);
    else if (p->penalty->words)
        mgvi_print(out, size, "%.6g %s", strength, p->penalty->words);
    else
        mgvi_print(out, size, "%.6g %s(w)", strength, p->penalty->name);
    const size_t used = strlen(out);
    if (mgvi_problem_is_bounded(p))
        mgvi_print(out + used, size - used, " over %.6g <= w <= %.6g", p->low, p->high);
    if (mgvi_problem_has_smooth(p))
        strncat(out, " + F(w)", size - strlen(out) - 1);
}

/* ", k(x, z) = ..." */
static void kernel_text(const mgv_problem *p, char *out, size_t size)
{
    const mgvi_kernel *k = &p->kernel;
    out[0] = 0;
    if (k->kind == MGVI_KERNEL_RBF)
        mgvi_print(out, size, ", k(x, z) = exp(-|x - z|^2/(2 * %.6g))", k->sigma2);
    else if (k->kind == MGVI_KERNEL_LAPLACE)
        mgvi_print(out, size, ", k(x, z) = exp(-|x - z|/sqrt(%.6g))", k->sigma2);
    else if (k->kind == MGVI_KERNEL_POLY)
        mgvi_print(out, size, ", k(x, z) = (x.z/%.6g + %.6g)^%d", k->sigma2, k->offset, k->degree);
    else if (k->kind == MGVI_KERNEL_PRECOMPUTED)
        snprintf(out, size, ", k from the data");
}

mgv_status mgvi_bind_formula(mgv_problem *p)
{
    char penalty[160], score[64], kernel[128];
    const char *features = p->kernel.kind == MGVI_KERNEL_LINEAR ? "x.w" : "phi(x).w";
    penalty_text(p, penalty, sizeof penalty);
    const char *weighted =
        p->data->weights || p->settings.class_weight[0] ? "weighted mean" : "mean";
    const bool contrasts = p->outputs > p->lanes, ends = p->data->lower || p->data->upper;
    snprintf(score, sizeof score, p->free_cols ? "%s%s + b%s" : "%s%s%s",
             p->loss->can & MGVI_MARGIN ? "y (" : "", p->loss->can & MGVI_JOINT ? "W x" : features,
             p->loss->can & MGVI_MARGIN ? ")" : "");
    kernel_text(p, kernel, sizeof kernel);
    p->formula = mgvi_arena_array(&p->arena, FORMULA_MAX, 1);
    if (!p->formula)
        return MGV_E_MEMORY;
    char *text = p->formula;
    const int64_t k = p->data->classes;
    if (p->pairwise)
        text +=
            snprintf(text, FORMULA_MAX / 2,
                     "for each of %" PRId64 " pairs of %" PRId64 " classes%s: ", k * (k - 1) / 2, k,
                     !p->by_C                      ? ""
                     : p->penalty->can & MGVI_NORM ? ", mu from C and its rows"
                                                   : ", lambda from C and its rows");
    else if (p->many)
        text += snprintf(text, FORMULA_MAX / 2,
                         "for each of %" PRId64 " classes against the rest: ", k);
    if (contrasts)
        snprintf(text, FORMULA_MAX / 2,
                 "min %s subject to %s_c%s - %s_j%s >= 1 for the class c of x and every other j%s",
                 penalty, features, p->free_cols ? " + b_c" : "", features,
                 p->free_cols ? " - b_j" : "", kernel);
    else if (mgvi_problem_wants_margin(p))
        snprintf(text, FORMULA_MAX / 2, "min %s subject to %s >= 1%s", penalty, score, kernel);
    else if ((p->loss->can & MGVI_HARD) && !(p->loss->can & MGVI_BETWEEN))
        snprintf(text, FORMULA_MAX / 2, "min %s subject to %s = y%s", penalty, score, kernel);
    else if ((p->loss->can & MGVI_HARD) && ends)
        snprintf(text, FORMULA_MAX / 2, "min %s subject to lower <= %s <= upper%s", penalty, score,
                 kernel);
    else if ((p->loss->can & MGVI_BETWEEN) && ends)
        snprintf(text, FORMULA_MAX / 2, "min %s + %s max(0, lower - (%s), (%s) - upper)%s", penalty,
                 weighted, score, score, kernel);
    else if (p->loss->can & MGVI_HARD)
        mgvi_print(text, FORMULA_MAX / 2, "min %s subject to |%s - y| <= %.6g%s", penalty, score,
                   p->settings.epsilon, kernel);
    else if (p->loss->can & MGVI_BETWEEN)
        mgvi_print(text, FORMULA_MAX / 2, "min %s + %s max(0, |%s - y| - %.6g)%s", penalty,
                   weighted, score, p->settings.epsilon, kernel);
    else
        snprintf(text, FORMULA_MAX / 2, "min %s + %s %s(%s%s)%s", penalty, weighted, p->loss->name,
                 score,
                 p->loss->can & MGVI_MARGIN  ? ""
                 : p->loss->can & MGVI_JOINT ? "; y"
                                             : " - y",
                 kernel);
    return MGV_OK;
}
