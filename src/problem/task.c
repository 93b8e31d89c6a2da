/* task.c - whether labels are classes or a quantity, where nobody says it. */
#include "base/event.h"
#include "problem/problem.h"

#include <math.h>
#include <string.h>

enum { FEW = 10, MANY = 100 }; /* different labels */

/* The least number of rows that share a label. */
static int64_t rarest(const mgv_data *data)
{
    int64_t count[MGVI_CLASSES_MAX] = {0}, least = INT64_MAX;
    for (int64_t i = 0; i < data->X.rows; i++)
        count[mgvi_data_class_of(data, data->labels[i])]++;
    for (int64_t c = 0; c < data->classes; c++)
        least = count[c] < least ? count[c] : least;
    return least;
}

/* Many whole numbers of which some occur once are counted or measured: nobody learns a class from
 * one example. */
static bool looks_like_counts(const mgv_data *data)
{
    return data->classes > FEW && data->classes <= MANY && rarest(data) == 1;
}

/* Very many classes are numbered from 0 or 1 without a gap, and none has a single example. */
static bool looks_like_numbering(const mgv_data *data)
{
    const double first = data->class_value[0], last = data->class_value[data->classes - 1];
    return (first == 0 || first == 1) && last - first == (double)(data->classes - 1) &&
           rarest(data) > 1;
}

/* Whole numbers in few classes, or words, are classes; so are few other numbers, where the loss
 * that was named has no other use for them. Anything else is a quantity. */
static bool looks_like_classes(const mgv_data *data, bool named)
{
    if (data->text_labels)
        return true;
    if (data->classes == 0 || 2 * data->classes > data->X.rows + 2)
        return false;
    for (int64_t c = 0; c < data->classes && !named; c++)
        if (data->class_value[c] != floor(data->class_value[c]))
            return data->classes == 2;
    if (data->classes > MANY)
        return looks_like_numbering(data);
    return named || !looks_like_counts(data);
}

mgv_status mgvi_bind_task(mgv_problem *p)
{
    const char *task = p->settings.task;
    const mgvi_loss_ops *loss = mgvi_loss_find(p->settings.loss);
    const bool margin = loss && (loss->can & MGVI_MARGIN);
    const bool joint = loss && (loss->can & MGVI_JOINT); /* it has no other use for labels */
    p->classify = strcmp(task, "classify") == 0 ||
                  (strcmp(task, "auto") == 0 && (joint || looks_like_classes(p->data, margin)));
    if (!p->classify && strcmp(task, "auto") == 0 && looks_like_counts(p->data))
        mgvi_log(p->ctx, MGV_INFO,
                 "the labels are %" PRId64 " whole numbers, some of which occur once: taken for a "
                 "quantity (--task classify: for classes)",
                 p->data->classes);
    if (p->classify && strcmp(task, "auto") == 0 && !joint && !p->data->text_labels &&
        p->data->classes > MANY)
        mgvi_log(
            p->ctx, MGV_INFO,
            "the labels are the whole numbers from %g to %g: taken for classes (--task regress: "
            "for a quantity)",
            p->data->class_value[0], p->data->class_value[p->data->classes - 1]);
    if (!p->classify && p->data->text_labels)
        return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                         "the labels are words such as '%.40s': regression "
                         "needs numbers",
                         p->data->class_text[0]);
    return MGV_OK;
}
