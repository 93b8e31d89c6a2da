/* bind_classes.c - two classes to signs, more to runs of two, to lanes of one loss, or to pairs of
 * an example and a class. docs/algorithms/multiclass.md. */
#include "problem/problem.h"

/* The number of each row's class, for losses and margins of all classes at once. */
static mgv_status bind_class_numbers(mgv_problem *p)
{
    const mgv_data *data = p->data;
    double *number;
    MGVI_TRY(MGVI_ARRAY(&p->arena, number, data->X.rows));
    for (int64_t i = 0; i < data->X.rows; i++)
        number[i] = (double)mgvi_data_class_of(data, data->labels[i]);
    p->target = number;
    return MGV_OK;
}

static mgv_status check_classes(const mgv_problem *p)
{
    const mgv_data *data = p->data;
    if (data->classes == 1)
        return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                         "every label is '%.40s': a classifier needs two classes",
                         data->class_text[0]);
    if (data->classes == 0)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "there are more than %d classes; for a quantity, say --task regress",
                         (int)MGVI_CLASSES_MAX);
    return MGV_OK;
}

/* What the setting asks for must be a form the loss has. */
static mgv_status check_form(const mgv_problem *p)
{
    static const char *const words[] = {MGVI_MULTICLASS_WORDS(MGVI_WORD)};
    const mgvi_multiclass form = p->settings.multiclass;
    const bool joint = form == MGVI_MULTICLASS_JOINT, given = form != MGVI_MULTICLASS_AUTO;
    const bool margin = (p->loss->can & MGVI_HARD) && (p->loss->can & MGVI_MARGIN);
    if ((p->loss->can & MGVI_JOINT) && given && !joint)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "loss %s is of all classes at once (got --multiclass %s); leave out "
                         "--multiclass, or take a loss of two classes",
                         p->loss->name, words[form]);
    const int64_t k = p->data->classes;
    if (form == MGVI_MULTICLASS_OVO && k * (k - 1) / 2 > MGVI_CLASSES_MAX)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "one against one of %" PRId64 " classes is %" PRId64
                         " problems; at most %d: --multiclass ovr",
                         k, k * (k - 1) / 2, (int)MGVI_CLASSES_MAX);
    if (!joint || (p->loss->can & MGVI_JOINT) || k == 2)
        return MGV_OK;
    if (!margin)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "multiclass joint is for loss margin; with a loss of its own: "
                         "crammer_singer (as hinge) and softmax (as logistic)");
    return MGV_OK;
}

static mgv_status bind_signs(mgv_problem *p)
{
    const mgv_data *data = p->data;
    const int64_t k = p->lanes;
    int8_t *sign = mgvi_arena_scratch(&p->arena, (size_t)data->X.rows, (size_t)k * sizeof *sign);
    if (!sign)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < data->X.rows; i++)
        for (int64_t c = 0; c < k; c++)
            sign[i * k + c] =
                data->labels[i] == data->class_value[p->block ? p->block[c].positive : p->positive]
                    ? 1
                    : -1;
    p->view.sign = sign;
    return MGV_OK;
}

mgv_status mgvi_bind_classes(mgv_problem *p)
{
    const mgv_data *data = p->data;
    if (!p->classify)
        return MGV_OK;
    MGVI_TRY(check_classes(p));
    MGVI_TRY(check_form(p));
    const bool contrasts = p->settings.multiclass == MGVI_MULTICLASS_JOINT && data->classes > 2;
    if (p->block)
        return bind_signs(p);
    if ((p->loss->can & MGVI_JOINT) || contrasts) {
        p->outputs = (int32_t)data->classes;
        p->lanes = contrasts ? 1 : p->outputs;
        p->positive = 0;
        return bind_class_numbers(p);
    }
    p->many = p->positive == MGVI_EVERY_CLASS && data->classes > 2;
    p->pairwise = p->many && p->settings.multiclass == MGVI_MULTICLASS_OVO;
    if (p->positive == MGVI_EVERY_CLASS)
        p->positive = p->many ? 0 : 1;
    return bind_signs(p);
}

mgv_status mgvi_bind_lane_weights(mgv_problem *p)
{
    const int64_t n = p->data->X.rows, k = p->lanes;
    bool everywhere = true;
    for (int64_t c = 0; c < k; c++)
        everywhere = everywhere && p->block[c].negative == MGVI_THE_REST;
    if (everywhere)
        return MGV_OK;
    double *s = mgvi_arena_array(&p->arena, (size_t)n, (size_t)k * sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        for (int32_t c = 0; c < k; c++)
            s[i * k + c] =
                mgvi_problem_takes_part(p, i, c) ? mgvi_coef_pick(&p->row.scale, i, 0) : 0;
    p->row.scale = (mgvi_coef_array){.values = s, .lanes = p->lanes};
    return MGV_OK;
}

/* An example's own class is no rival: its row is no constraint. */
static mgv_status spread_weights(mgv_problem *p)
{
    const int64_t n = p->data->X.rows, k = p->outputs;
    double *s;
    MGVI_TRY(MGVI_ARRAY(&p->arena, s, p->A->rows));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            s[i * k + j] = j == (int64_t)p->target[i] ? 0 : mgvi_coef_pick(&p->row.scale, i, 0);
    p->row.scale = (mgvi_coef_array){.values = s, .lanes = 1};
    return MGV_OK;
}

mgv_status mgvi_bind_contrasts(mgv_problem *p)
{
    mgvi_op *scores = p->A;
    int32_t *own;
    MGVI_TRY(MGVI_ARRAY(&p->arena, own, scores->rows));
    for (int64_t i = 0; i < scores->rows; i++)
        own[i] = (int32_t)p->target[i];
    p->A = NULL; /* taken over */
    MGVI_TRY(mgvi_op_contrast(p->ctx, scores, p->free_cols > 0, own, p->outputs, &p->A));
    MGVI_TRY(spread_weights(p));
    if (!p->free_cols)
        return MGV_OK;
    p->free_cols = p->outputs;
    p->graph = mgvi_arena_array(&p->arena, 1, sizeof *p->graph);
    return p->graph ? mgvi_class_graph_new(&p->arena, p->outputs, p->graph) : MGV_E_MEMORY;
}
