/* task.c - whether labels are classes or a quantity, where nobody says it, and why in words.
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

mgv_status mgvi_bind_task(mgv_problem *p)
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
                         "the labels are words such as '%.40s': regression "
                         "needs numbers",
                         p->data->class_text[0]);
    if (p->classify)
        say_classes(p, why);
    else
        say_quantity(p, asked, why);
    return MGV_OK;
}
