/* task.c - whether labels are classes or a quantity, where nobody says it, and why in words; then
 * names and strengths to a loss and a penalty.
 *
 *   words                                                   classes
 *   up to 100 whole numbers, or any two numbers, each       classes
 *   twice on average
 *   more whole numbers, 0 or 1 to K without a gap, each     classes
 *   twice on average and few of them once
 *   numbers, each twice on average, under a loss that is    classes
 *   for classes only
 *   anything else                                           a quantity
 *
 * No rule asks that every label occurs twice: one stray label must not turn the task over. */
#include "problem/problem.h"

#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 100 };       /* different labels */
enum { ALONE_SHARE = 20 }; /* one in so many of very many classes may have a single example */

/* What speaks for classes. */
typedef enum reason {
    QUANTITY_FRACTIONS, /* not all labels are whole */
    QUANTITY_MANY,      /* more than 100, and not a numbering */
    QUANTITY_SELDOM,    /* they repeat less than twice on average */
    CLASSES,            /* from here on: classes */
    CLASSES_WORDS,
    CLASSES_TWO,
    CLASSES_WHOLE,
    CLASSES_NUMBERED,
    CLASSES_LOSS /* the loss has no other use for labels */
} reason;

/* Labels that a single row has. */
static int64_t count_alone(const mgv_data *data)
{
    int64_t count[MGVI_CLASSES_MAX] = {0}, alone = 0;
    for (int64_t i = 0; i < data->X.rows; i++)
        count[mgvi_data_class_of(data, data->labels[i])]++;
    for (int64_t c = 0; c < data->classes; c++)
        alone += count[c] == 1;
    return alone;
}

/* From 0 or 1 without a gap. Counts and measurements thin out towards their ends: many values occur
 * once there. */
static bool is_numbering(const mgv_data *data)
{
    const double first = data->class_value[0], last = data->class_value[data->classes - 1];
    return (first == 0 || first == 1) && last - first == (double)(data->classes - 1) &&
           count_alone(data) <= 1 + data->classes / ALONE_SHARE;
}

static bool all_whole(const mgv_data *data)
{
    for (int64_t c = 0; c < data->classes; c++)
        if (data->class_value[c] != floor(data->class_value[c]))
            return false;
    return true;
}

/* `margin`: the loss that was named is for classes only. */
static reason look_at_labels(const mgv_data *data, bool margin)
{
    if (data->text_labels)
        return CLASSES_WORDS;
    if (data->classes == 0)
        return QUANTITY_MANY;
    if (2 * data->classes > data->X.rows + 2)
        return QUANTITY_SELDOM;
    if (data->classes == 2)
        return CLASSES_TWO;
    if (!all_whole(data))
        return margin && data->classes <= MANY ? CLASSES_LOSS : QUANTITY_FRACTIONS;
    if (data->classes > MANY)
        return is_numbering(data) ? CLASSES_NUMBERED : QUANTITY_MANY;
    return CLASSES_WHOLE;
}

/* ---- in words -------------------------------------------------------------------------------- */

static void say_classes(mgv_problem *p, reason why)
{
    const mgv_data *data = p->data;
    char because[128];
    const double each = (double)data->X.rows / (double)(data->classes ? data->classes : 1);
    if (why == CLASSES)
        snprintf(because, sizeof because, "as asked for");
    else if (why == CLASSES_WORDS)
        snprintf(because, sizeof because, "the labels are words");
    else if (why == CLASSES_LOSS)
        snprintf(because, sizeof because, "loss %.20s is for classes", p->settings.loss);
    else if (why == CLASSES_TWO)
        snprintf(because, sizeof because, "two different labels");
    else
        mgvi_print(because, sizeof because,
                   "whole numbers, each %.3g times on average; else --task regress", each);
    snprintf(p->task, sizeof p->task, "classification into %" PRId64 " classes (%s)", data->classes,
             because);
}

static void say_quantity(mgv_problem *p, bool asked, reason why)
{
    static const char *const because[] = {[QUANTITY_FRACTIONS] = ", not all of them whole,",
                                          [QUANTITY_MANY] = ", more than 100 different ones,",
                                          [QUANTITY_SELDOM] = ", few of which repeat,"};
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < p->data->X.rows; i++) {
        low = fmin(low, p->data->labels[i]);
        high = fmax(high, p->data->labels[i]);
    }
    if (asked)
        mgvi_print(p->task, sizeof p->task, "regression (as asked for; labels from %g to %g)", low,
                   high);
    else
        mgvi_print(p->task, sizeof p->task,
                   "regression (labels from %g to %g%s taken for a quantity%s)", low, high,
                   because[why], p->data->classes ? "; --task classify for classes" : "");
}

static mgv_status bind_task(mgv_problem *p)
{
    const mgvi_task task = p->settings.task;
    const mgvi_loss_ops *loss = mgvi_loss_find(p->settings.loss);
    const bool margin = loss && (loss->can & MGVI_MARGIN);
    const bool joint = loss && (loss->can & MGVI_JOINT); /* it has no other use for labels */
    const bool asked = task != MGVI_TASK_AUTO;
    reason why = look_at_labels(p->data, margin);
    if (joint && why < CLASSES)
        why = CLASSES_LOSS;
    if (task == MGVI_TASK_CLASSIFY)
        why = CLASSES;
    p->classify = asked ? why == CLASSES : why > CLASSES;
    if (!p->classify && p->data->text_labels)
        return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                         "regression needs numbers (got labels such as '%.40s'); say --task "
                         "classify, or name the column of the target",
                         p->data->class_text[0]);
    if (p->classify)
        say_classes(p, why);
    else
        say_quantity(p, asked, why);
    return MGV_OK;
}

/* ---- its terms ------------------------------------------------------------------------------- */

static mgv_status choose_loss(mgv_problem *p)
{
    const char *name = p->settings.loss;
    if (mgvi_is_auto(name))
        name = p->classify ? "hinge" : "squared";
    p->loss = mgvi_loss_find(name);
    if (!p->loss)
        return MGVI_FAIL(p->ctx, MGV_E_ARG, "there is no loss '%.40s'; `margrave list` names them",
                         name);
    if ((p->loss->can & (MGVI_MARGIN | MGVI_JOINT)) && !p->classify)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "loss %s needs classes, but the labels are a quantity (or the task "
                         "is regress)",
                         name);
    return MGV_OK;
}

/* `sparse` is 1 + 1/log d: |w|_p is then |w|_1 up to a factor of e. */
static mgv_status read_norm(mgv_problem *p, double *norm)
{
    const double d = (double)p->data->X.cols;
    const char *text = p->settings.p;
    const bool sparse = strcmp(text, "sparse") == 0;
    if (sparse)
        *norm = d > M_E ? 1 + 1 / log(d) : 2;
    if (!sparse && (!mgvi_parse_real(text, norm) || !(*norm > 1 && *norm <= 2)))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "p is %.40s; allowed: above 1 and at most 2, or `sparse`; for |w|_1 say "
                         "--penalty l1",
                         text);
    return MGV_OK;
}

/* A power of |w|_p whose p is the user's. */
static bool is_power(const mgvi_penalty_ops *penalty)
{
    return (penalty->can & MGVI_LENGTH) && (penalty->can & MGVI_SEPARABLE) &&
           !mgvi_penalty_parts(penalty);
}

/* The penalty from its name, or from which of lambda, mu and p are given. */
static mgv_status choose_penalty(mgv_problem *p, double norm)
{
    const mgv_settings *s = &p->settings;
    const bool has_mu = !isnan(s->mu) && s->mu > 0, round = norm == 2;
    const bool has_lambda = s->lambda > 0; /* NaN: not given */
    const char *name = s->penalty;
    if (mgvi_is_auto(name))
        name = !round ? "lp" : !has_mu ? "l2" : has_lambda ? "enet" : "l1";
    p->penalty = mgvi_penalty_find(name);
    if (p->penalty && is_power(p->penalty) && round)
        p->penalty = mgvi_penalty_find(name = "l2"); /* the same, which more solvers know */
    if (!p->penalty)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "there is no penalty '%.40s'; `margrave list` names them", name);
    const bool power = is_power(p->penalty), length = p->penalty->can & MGVI_LENGTH;
    if (!round && !power)
        return MGVI_FAIL(
            p->ctx, MGV_E_ARG,
            "p is for penalty lp (got p = %.40s and penalty %s); leave out one of them", s->p,
            name);
    if (power && has_mu)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "mu has no place beside p (got p = %.40s); leave out one of them", s->p);
    const bool most = length && !(p->penalty->can & MGVI_SEPARABLE);
    p->p = !length || (most && !mgvi_problem_wants_margin(p)) ? NAN
           : most                                             ? INFINITY
           : p->penalty->can & MGVI_ABS                       ? 1
                                                              : norm;
    return MGV_OK;
}

/* C is the strength of the whole penalty: it has no place beside its parts. */
static mgv_status check_C(const mgv_problem *p, bool has_lambda, bool has_mu)
{
    const char *half = p->loss->can & MGVI_HALVED ? "2 " : "";
    if (mgvi_problem_is_net(p) && (has_lambda || has_mu))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "give C, or lambda and mu: C = 1/(%s(lambda + mu) n), and enet_share is "
                         "mu's part",
                         half);
    if (has_lambda || has_mu)
        return MGVI_FAIL(p->ctx, MGV_E_ARG, "give C or %s, not both: C = 1/(%s%s n)",
                         has_mu ? "mu" : "lambda", half, has_mu ? "mu" : "lambda");
    if (p->settings.C == 0)
        return MGVI_FAIL(p->ctx, MGV_E_ARG, "C is 0; allowed: above 0");
    return MGV_OK;
}

/* lambda and mu, where C does not decide. */
static mgv_status choose_strengths(mgv_problem *p)
{
    const mgv_settings *s = &p->settings;
    const bool hard = p->loss->can & MGVI_HARD;
    const bool has_C = !isnan(s->C), has_lambda = !isnan(s->lambda), has_mu = !isnan(s->mu);
    const bool net = mgvi_problem_is_net(p); /* the ratio of its parts matters */
    if (hard && (has_C || (has_lambda && !net)))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "loss %s is a constraint and has no C and no lambda; leave them out",
                         p->loss->name);
    const bool norm = p->penalty->can & MGVI_NORM;
    if (has_C)
        MGVI_TRY(check_C(p, has_lambda, has_mu));
    if ((norm && s->lambda > 0) || (!norm && !net && s->mu > 0))
        return MGVI_FAIL(p->ctx, MGV_E_ARG, "penalty %s has no %s (got %g); penalty enet has both",
                         p->penalty->name, norm ? "lambda" : "mu", norm ? s->lambda : s->mu);
    p->by_C = !hard && !has_lambda && !(has_mu && s->mu > 0) && (has_C || !norm);
    p->mu = has_mu ? s->mu : hard && (net || norm) ? 1 : 0;
    p->lambda = has_lambda ? s->lambda : hard ? 1 : 0;
    if (has_lambda && s->lambda == 0 && p->mu == 0)
        return MGVI_FAIL(
            p->ctx, MGV_E_ARG,
            "lambda and mu are both 0, so that nothing is penalised; give one of them above 0");
    return MGV_OK;
}

mgv_status mgvi_bind_terms(mgv_problem *p)
{
    MGVI_TRY(bind_task(p));
    MGVI_TRY(choose_loss(p));
    double norm;
    MGVI_TRY(read_norm(p, &norm));
    MGVI_TRY(choose_penalty(p, norm));
    return choose_strengths(p);
}
