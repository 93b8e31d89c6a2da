/* metrics.c - how good predictions are. */
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
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

/* The model's class of each row's label, -1 where it has none. Labels too many to be classes are
 * compared by value. */
static mgv_status true_classes(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data,
                               int64_t *truth)
{
    int64_t *map = mgvi_alloc(ctx, (size_t)data->classes + 1, sizeof *map);
    if (!map)
        return MGV_E_MEMORY;
    for (int64_t c = 0; c < data->classes; c++)
        map[c] = mgvi_model_class_of(m, data, c);
    for (int64_t i = 0; i < data->X.rows; i++) {
        const int64_t c = mgvi_data_class_of(data, data->labels[i]);
        truth[i] = c >= 0 ? map[c] : -1;
        for (int64_t k = 0; data->classes == 0 && k < m->classes; k++)
            if (m->class_value[k] == data->labels[i])
                truth[i] = k;
    }
    mgvi_release(ctx, map);
    return MGV_OK;
}

typedef struct scored {
    double score;
    int positive;
} scored;

static int by_score(const void *a, const void *b)
{
    const double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* Area under the ROC curve = probability that a positive scores above a negative, ties half. */
static double area_under_curve(scored *s, int64_t n)
{
    double pairs = 0, wins = 0, negatives = 0;
    qsort(s, (size_t)n, sizeof *s, by_score);
    for (int64_t i = 0; i < n;) {
        double plus = 0, minus = 0;
        int64_t j = i;
        do /* a score that is not equal to itself must not stop the loop either */
            s[j].positive ? plus++ : minus++;
        while (++j < n && s[j].score == s[i].score);
        wins += plus * (negatives + 0.5 * minus);
        pairs += plus;
        negatives += minus;
        i = j;
    }
    return pairs > 0 && negatives > 0 ? wins / (pairs * negatives) : NAN;
}

/* Only two classes have a curve: their one score, or the second less the first. */
static mgv_status measure_area(mgv_ctx *ctx, const double *scores, int64_t outputs,
                               const int64_t *truth, int64_t n, double *area)
{
    int64_t known = 0;
    scored *s = mgvi_alloc(ctx, (size_t)n + 1, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (truth[i] >= 0)
            s[known++] = (scored){outputs == 1 ? scores[i] : scores[2 * i + 1] - scores[2 * i],
                                  (int)truth[i]};
    *area = area_under_curve(s, known);
    mgvi_release(ctx, s);
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

static void count_right(mgv_ctx *ctx, const mgv_model *m, const double *scores,
                        const int64_t *truth, int64_t n, tally *t)
{
    for (int64_t i = 0; i < n; i++) {
        const double *score = scores + i * m->outputs;
        const int64_t answer = mgvi_model_decide(m, score);
        if (truth[i] < 0)
            continue;
        t->answers[answer]++;
        t->total[truth[i]]++;
        t->right[truth[i]] += answer == truth[i];
        if (t->p)
            t->log_likelihood += log_probability(ctx, m, score, truth[i], t->p);
    }
}

/* The same from the data, some rows at a time: scores of all rows and classes may be many times
 * the model. */
static mgv_status count_by_blocks(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data,
                                  const int64_t *truth, tally *t)
{
    enum { AT_ONCE = 1 << 17 }; /* scores */
    const int64_t most = AT_ONCE / m->outputs + 1;
    double *scores = mgvi_alloc(ctx, (size_t)(most * m->outputs), sizeof *scores);
    mgv_status st = scores ? MGV_OK : MGV_E_MEMORY;
    for (int64_t first = 0; st == MGV_OK && first < data->X.rows; first += most) {
        const int64_t n = data->X.rows - first < most ? data->X.rows - first : most;
        st = mgvi_model_dense_scores(ctx, m, &data->X, first, n, scores);
        if (st == MGV_OK)
            count_right(ctx, m, scores, truth + first, n, t);
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

static mgv_status classification(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data,
                                 const double *scores, mgv_metrics *out)
{
    const int64_t n = data->X.rows;
    int64_t *truth = mgvi_alloc(ctx, (size_t)n + 1, sizeof *truth);
    tally t = {.total = mgvi_new(ctx, (size_t)(4 * m->classes) * sizeof *t.total)};
    mgv_status st = truth && t.total ? true_classes(ctx, m, data, truth) : MGV_E_MEMORY;
    if (t.total) {
        t.right = t.total + m->classes;
        t.answers = t.right + m->classes;
        if (scores && m->link != MGVI_LINK_NONE)
            t.p = t.answers + m->classes;
    }
    if (st == MGV_OK && scores)
        count_right(ctx, m, scores, truth, n, &t);
    else if (st == MGV_OK)
        st = count_by_blocks(ctx, m, data, truth, &t);
    if (st == MGV_OK)
        conclude(m, &t, out);
    if (st == MGV_OK && scores && m->classes == 2)
        st = measure_area(ctx, scores, m->outputs, truth, n, &out->auc);
    mgvi_release(ctx, truth);
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
        return MGVI_FAIL(ctx, MGV_E_ARG, "the model predicts a quantity, not classes");
    int64_t *truth = mgvi_alloc(ctx, (size_t)n + 1, sizeof *truth);
    const mgv_status st = truth ? true_classes(ctx, m, data, truth) : MGV_E_MEMORY;
    if (st == MGV_OK) {
        memset(counts, 0, (size_t)(m->classes * m->classes) * sizeof *counts);
        for (int64_t i = 0; i < n; i++)
            if (truth[i] >= 0)
                counts[truth[i] * m->classes + mgvi_model_decide(m, scores + i * m->outputs)]++;
    }
    mgvi_release(ctx, truth);
    return st;
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

mgv_status mgvi_model_evaluate(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                               const double *scores, mgv_metrics *out)
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
        MGVI_TRY(classification(ctx, model, data, scores, &metrics));
    else if (!data->text_labels)
        regression(data, scores, &metrics);
    mgvi_copy_out(out, &metrics, sizeof metrics);
    return MGV_OK;
}

mgv_status mgvi_model_measure(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                              mgv_metrics *out)
{
    MGVI_TRY(mgvi_data_check_once(ctx, data));
    if (model->outputs > 1 && model->support < 0 && !model->row_norm &&
        data->X.layout == MGV_DENSE && data->X.cols == model->features) {
        MGVI_TRY(mgvi_model_check_columns(ctx, model, data));
        return mgvi_model_evaluate(ctx, model, data, NULL, out);
    }
    double *scores =
        mgvi_alloc(ctx, (size_t)data->X.rows + 1, (size_t)model->outputs * sizeof *scores);
    mgv_status st = scores ? mgvi_model_scores(ctx, model, data, scores) : MGV_E_MEMORY;
    if (st == MGV_OK)
        st = mgvi_model_evaluate(ctx, model, data, scores, out);
    mgvi_release(ctx, scores);
    return st;
}
