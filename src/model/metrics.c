/* metrics.c - how good predictions are. */
#include "base/sort.h"
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Numbers are compared as such, words by their spelling; a number that stands among words (a column
 * of numbers with a '?' in it) is one still. */
int64_t mgvi_model_class_of(const mgv_model *m, const mgv_data *data, int64_t class)
{
    double value = data->class_value[class];
    const char *text = data->class_text[class];
    const bool number = !data->text_labels || mgvi_parse_real(text, &value);
    for (int64_t k = 0; k < m->classes; k++) {
        const bool word = isnan(m->class_value[k]);
        if (word || !number ? strcmp(text, m->class_text[k]) == 0 : value == m->class_value[k])
            return k;
    }
    return -1;
}

/* The labels of a table in the model's classes. */
typedef struct truths {
    const mgv_model *m;
    const mgv_data *data;
    int64_t *map; /* the model's class of every class of the data, -1: it has none */
} truths;

static mgv_status truths_open(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data, truths *out)
{
    *out = (truths){.m = m, .data = data};
    out->map = mgvi_alloc(ctx, (size_t)data->classes + 1, sizeof *out->map);
    if (!out->map)
        return MGV_E_MEMORY;
    for (int64_t c = 0; c < data->classes; c++)
        out->map[c] = mgvi_model_class_of(m, data, c);
    return MGV_OK;
}

/* The model's class of row i, -1: none. Labels too many to be classes are compared by value. */
static int64_t truth_at(const truths *t, int64_t i)
{
    const double label = t->data->labels[i];
    const int64_t c = mgvi_data_class_of(t->data, label);
    int64_t found = c >= 0 ? t->map[c] : -1;
    for (int64_t k = 0; t->data->classes == 0 && k < t->m->classes; k++)
        if (t->m->class_value[k] == label)
            found = k;
    return found;
}

/* Area under the ROC curve = probability that a positive scores above a negative, ties half. Both
 * lists increase. */
static double area_under_curve(const double *positive, int64_t positives, const double *negative,
                               int64_t negatives)
{
    double wins = 0;
    for (int64_t p = 0, n = 0; p < positives;) {
        const double score = positive[p];
        int64_t plus = 0, equal = 0;
        do /* a score that is not equal to itself must not stop the loop either */
            plus++;
        while (++p < positives && positive[p] == score);
        for (; n < negatives && negative[n] < score; n++)
            ;
        while (n + equal < negatives && negative[n + equal] == score)
            equal++;
        wins += (double)plus * ((double)n + 0.5 * (double)equal);
    }
    const double pairs = (double)positives * (double)negatives;
    return pairs > 0 ? wins / pairs : NAN;
}

/* The positives to the front, in no order; returns how many. `side` is of the places before. */
static int64_t part(double *score, const uint8_t *side, int64_t n)
{
    int64_t i = 0, j = n;
    for (;;) {
        while (i < j && side[i])
            i++;
        while (i < j && !side[j - 1])
            j--;
        if (i >= j)
            return i;
        const double held = score[i];
        score[i++] = score[--j];
        score[j] = held;
    }
}

/* Only two classes have a curve: their one score, or the second less the first. Tables are long:
 * `scores` is where the work is done, and lost. */
static mgv_status measure_area(mgv_ctx *ctx, const truths *t, double *scores, double *area)
{
    const int64_t n = t->data->X.rows;
    int64_t known = 0;
    uint8_t *side = mgvi_alloc(ctx, (size_t)n + 1, sizeof *side);
    if (!side)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const int64_t truth = truth_at(t, i);
        if (truth < 0)
            continue;
        side[known] = truth > 0;
        scores[known++] = t->m->outputs == 1 ? scores[i] : scores[2 * i + 1] - scores[2 * i];
    }
    const int64_t positives = part(scores, side, known);
    mgvi_release(ctx, side);
    mgvi_sort_reals(scores, positives);
    mgvi_sort_reals(scores + positives, known - positives);
    *area = area_under_curve(scores, positives, scores + positives, known - positives);
    return MGV_OK;
}

/* Rows, right answers and answers of each of the model's classes, and the log likelihood: of the
 * rows whose label is one of them. */
typedef struct tally {
    double *total, *right, *answers;
    double *p; /* room for the probabilities of a row; NULL: not asked for */
    double log_likelihood;
} tally;

static double log_probability(mgv_ctx *ctx, const mgv_model *m, const double *score, int64_t class,
                              double *p)
{
    mgvi_model_probabilities(ctx, m, 1, score, p);
    return log(fmax(p[class], DBL_MIN));
}

/* `scores` of n rows from `first` on. */
static void count_right(mgv_ctx *ctx, const truths *of, const double *scores, int64_t first,
                        int64_t n, tally *t)
{
    const mgv_model *m = of->m;
    for (int64_t i = 0; i < n; i++) {
        const double *score = scores + i * m->outputs;
        const int64_t answer = mgvi_model_decide(m, score), truth = truth_at(of, first + i);
        if (truth < 0)
            continue;
        t->answers[answer]++;
        t->total[truth]++;
        t->right[truth] += answer == truth;
        if (t->p)
            t->log_likelihood += log_probability(ctx, m, score, truth, t->p);
    }
}

/* The same from the data, some rows at a time: scores of all rows and classes may be many times
 * the model. */
static mgv_status count_by_blocks(mgv_ctx *ctx, const truths *of, tally *t)
{
    enum { AT_ONCE = 1 << 17 }; /* scores */
    const mgv_model *m = of->m;
    const mgvi_matrix *X = &of->data->X;
    const int64_t most = AT_ONCE / m->outputs + 1;
    double *scores = mgvi_alloc(ctx, (size_t)(most * m->outputs), sizeof *scores);
    mgv_status st = scores ? MGV_OK : MGV_E_MEMORY;
    for (int64_t first = 0; st == MGV_OK && first < X->rows; first += most) {
        const int64_t n = X->rows - first < most ? X->rows - first : most;
        st = mgvi_model_dense_scores(ctx, m, X, first, n, scores);
        if (st == MGV_OK)
            count_right(ctx, of, scores, first, n, t);
    }
    mgvi_release(ctx, scores);
    return st;
}

/* The share of right answers, over the rows whose label the model knows and as a mean over its
 * classes; a class without rows has no share. F1 is of the second of two classes, else the mean
 * over the classes that occur or were answered. */
static void conclude(const mgv_model *m, const tally *t, mgv_metrics *out)
{
    double all = 0, known = 0, shares = 0, present = 0, f1 = 0, met = 0;
    for (int64_t k = 0; k < m->classes; k++) {
        const double of_both = t->total[k] + t->answers[k];
        all += t->right[k];
        known += t->total[k];
        present += t->total[k] > 0;
        shares += t->total[k] > 0 ? t->right[k] / t->total[k] : 0;
        if (of_both > 0 && (m->classes > 2 || k == 1)) {
            f1 += 2 * t->right[k] / of_both;
            met++;
        }
    }
    out->known = (int64_t)known;
    out->accuracy = known > 0 ? all / known : NAN;
    out->balanced_accuracy = present > 1 ? shares / present : NAN;
    out->f1 = met > 0 ? f1 / met : NAN;
    if (t->p && known > 0)
        out->log_loss = -t->log_likelihood / known;
}

/* `scores` NULL: made a few at a time, without a curve; `room`: they, to be lost, or as much. */
static mgv_status classification(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data,
                                 const double *scores, double *room, mgv_metrics *out)
{
    truths of = {0};
    tally t = {.total = mgvi_new(ctx, (size_t)(4 * m->classes) * sizeof *t.total)};
    mgv_status st = t.total ? truths_open(ctx, m, data, &of) : MGV_E_MEMORY;
    if (t.total) {
        t.right = t.total + m->classes;
        t.answers = t.right + m->classes;
        if (scores && m->link != MGVI_LINK_NONE)
            t.p = t.answers + m->classes;
    }
    if (st == MGV_OK && scores)
        count_right(ctx, &of, scores, 0, data->X.rows, &t);
    else if (st == MGV_OK)
        st = count_by_blocks(ctx, &of, &t);
    if (st == MGV_OK)
        conclude(m, &t, out);
    if (st == MGV_OK && scores && room) {
        if (room != scores)
            memcpy(room, scores, (size_t)(data->X.rows * m->outputs) * sizeof *room);
        st = measure_area(ctx, &of, room, &out->auc);
    }
    mgvi_release(ctx, of.map);
    mgvi_release(ctx, t.total);
    return st;
}

mgv_status mgvi_model_confusion(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data,
                                const double *scores, int64_t *counts)
{
    const int64_t n = data->X.rows;
    if (!data->labels)
        return MGVI_FAIL(ctx, MGV_E_ARG, "the data has no labels to compare with");
    if (!m->classify)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the model predicts a quantity and has no classes to count");
    truths of;
    MGVI_TRY(truths_open(ctx, m, data, &of));
    memset(counts, 0, (size_t)(m->classes * m->classes) * sizeof *counts);
    for (int64_t i = 0; i < n; i++) {
        const int64_t truth = truth_at(&of, i);
        if (truth >= 0)
            counts[truth * m->classes + mgvi_model_decide(m, scores + i * m->outputs)]++;
    }
    mgvi_release(ctx, of.map);
    return MGV_OK;
}

/* Rows without a label (NaN) are left out. */
static void regression(const mgv_data *data, const double *scores, mgv_metrics *out)
{
    const int64_t n = data->X.rows;
    double mean = 0, error = 0, spread = 0, known = 0;
    for (int64_t i = 0; i < n; i++)
        known += !isnan(data->labels[i]);
    for (int64_t i = 0; i < n; i++)
        mean += isnan(data->labels[i]) ? 0 : data->labels[i] / known;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(data->labels[i]))
            continue;
        const double e = data->labels[i] - scores[i], v = data->labels[i] - mean;
        error += e * e;
        spread += v * v;
    }
    out->known = (int64_t)known;
    out->mse = known > 0 ? error / known : NAN;
    out->r2 = spread > 0 ? 1 - error / spread : NAN;
}

static mgv_status evaluate(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                           const double *scores, double *room, mgv_metrics *out)
{
    if (!data->labels)
        return MGVI_FAIL(ctx, MGV_E_ARG, "the data has no labels to compare with");
    mgv_metrics metrics = {.rows = data->X.rows,
                           .accuracy = NAN,
                           .balanced_accuracy = NAN,
                           .auc = NAN,
                           .mse = NAN,
                           .r2 = NAN,
                           .f1 = NAN,
                           .log_loss = NAN};
    if (model->classify)
        MGVI_TRY(classification(ctx, model, data, scores, room, &metrics));
    else if (!data->text_labels)
        regression(data, scores, &metrics);
    mgvi_copy_out(out, &metrics, sizeof metrics);
    return MGV_OK;
}

static double *room_for_scores(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data)
{
    return mgvi_alloc(ctx, (size_t)data->X.rows + 1, (size_t)model->outputs * sizeof(double));
}

mgv_status mgvi_model_evaluate(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                               const double *scores, mgv_metrics *out)
{
    const bool curve = model->classify && model->classes == 2;
    double *room = curve ? room_for_scores(ctx, model, data) : NULL;
    if (curve && !room)
        return MGV_E_MEMORY;
    const mgv_status st = evaluate(ctx, model, data, scores, room, out);
    mgvi_release(ctx, room);
    return st;
}

mgv_status mgvi_model_measure(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                              mgv_metrics *out)
{
    MGVI_TRY(mgvi_data_check_once(ctx, data));
    if (model->outputs > 1 && model->support < 0 && !model->row_norm &&
        data->X.layout == MGV_DENSE && data->X.cols == model->features) {
        MGVI_TRY(mgvi_model_check_columns(ctx, model, data));
        return evaluate(ctx, model, data, NULL, NULL, out);
    }
    double *scores = room_for_scores(ctx, model, data);
    mgv_status st = scores ? mgvi_model_scores(ctx, model, data, scores) : MGV_E_MEMORY;
    if (st == MGV_OK)
        st = evaluate(ctx, model, data, scores, model->classes == 2 ? scores : NULL, out);
    mgvi_release(ctx, scores);
    return st;
}
