/* test_completion.c - whole runs: ranks and errors, odd inputs, files, threads, interrupts, memory.
 */
#include "complete/completion.h"
#include "samples.h"

#include <unistd.h>

TEST(rank_and_truth_are_found)
{
    static const struct {
        int64_t rows, cols, rank;
        double seen, noise, most;
    } cases[] = {{200, 150, 4, 0.3, 0.1, 0.06},  {200, 150, 4, 0.3, 0.5, 0.3},
                 {80, 600, 3, 0.2, 0.1, 0.06},   {300, 300, 2, 0.06, 0.1, 0.1},
                 {150, 150, 12, 0.5, 0.1, 0.08}, {120, 90, 3, 0.4, 0, 1e-5},
                 {100, 100, 1, 0.3, 0.2, 0.08}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sample s = sample_new(k + 1, cases[k].rows, cases[k].cols, cases[k].rank, cases[k].seen,
                              cases[k].noise);
        mgv_completion_info c;
        mgv_completion *done = sample_complete(ctx, &s, "", &c);
        CHECK_THAT(c.rank == cases[k].rank, "case %zu: rank %d", k, (int)c.rank);
        CHECK(c.stop == MGV_STOP_SELECTED && c.finished && !c.biases);
        CHECK_LE(distance(&c, &s), cases[k].most, "case %zu", k);
        /* noise and what is not known of the truth, each squared */
        CHECK_LE(c.held_out_error, hypot(cases[k].noise, 1.3 * cases[k].most), "case %zu", k);
        CHECK(c.baseline_error > 0.8 && c.path_error < c.baseline_error);
        mgv_completion_free(ctx, done);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(ratings_get_biases_and_noise_gets_nothing)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rng rng = mgvi_rng_seed(12);
    mgv_completion_info c;
    sample s = sample_new(3, 150, 100, 1, 0.25, 1);
    double bias[250];
    for (int k = 0; k < 250; k++)
        bias[k] = 0.6 * mgvi_rng_normal(&rng);
    for (int64_t k = 0; k < s.count; k++) {
        const double x = 3.5 + bias[s.row[k]] + bias[150 + s.col[k]] + 0.7 * mgvi_rng_normal(&rng);
        s.value[k] = fmin(fmax(round(x), 1), 5);
    }
    mgv_completion *done = sample_complete(ctx, &s, "", &c);
    CHECK(c.biases && c.low == 1 && c.high == 5);
    CHECK_LE(c.held_out_error, 0.8, "ratings");
    mgv_completion_free(ctx, done);
    done = sample_complete(ctx, &s, "biases=no", &c);
    CHECK(!c.biases && !c.row_bias);
    mgv_completion_free(ctx, done);
    for (int64_t k = 0; k < s.count; k++)
        s.value[k] = mgvi_rng_normal(&rng);
    done = sample_complete(ctx, &s, "", &c);
    CHECK_LE(c.held_out_error, 1.01 * c.baseline_error, "pure noise");
    mgv_completion_free(ctx, done);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

/* Row 5 and column 7 without entries, and the rest of these shapes, end well. */
TEST(odd_matrices_end_well)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_completion_info c;
    sample s = sample_new(6, 60, 50, 2, 0.5, 0.05);
    int64_t kept = 0;
    for (int64_t k = 0; k < s.count; k++)
        if (s.row[k] != 5 && s.col[k] != 7) {
            s.row[kept] = s.row[k];
            s.col[kept] = s.col[k];
            s.value[kept++] = s.value[k];
        }
    s.count = kept;
    mgv_completion *done = sample_complete(ctx, &s, "", &c);
    CHECK(c.rank == 2 && completed(&c, 5, 3) == 0);
    const int64_t row[] = {5, 1, 1}, col[] = {3, 7, 1};
    double values[3];
    mgv_triples *pairs;
    CHECK_OK(ctx, mgv_triples_new(ctx, 3, row, col, NULL, 0, 0, &pairs));
    CHECK_OK(ctx, mgv_completion_predict(ctx, done, pairs, 0, values));
    CHECK(values[0] == c.mean && values[1] == c.mean && values[2] == completed(&c, 1, 1));
    mgv_triples_free(ctx, pairs);
    mgv_completion_free(ctx, done);

    for (int64_t k = 0; k < s.count; k++)
        s.value[k] = 3; /* all equal: rank one, exactly */
    done = sample_complete(ctx, &s, "", &c);
    CHECK_LE(c.train_error, 1e-6, "all equal");
    mgv_completion_free(ctx, done);
    for (int64_t k = 0; k < s.count; k++)
        s.value[k] = 0;
    done = sample_complete(ctx, &s, "", &c);
    CHECK(c.rank == 0 && c.train_error == 0);
    mgv_completion_free(ctx, done);
    sample_free(&s);

    static const int64_t shapes[][2] = {{1, 40}, {40, 1}, {2, 300}, {5, 5}};
    for (int k = 0; k < 4; k++) {
        s = sample_new(7, shapes[k][0], shapes[k][1], 1, 0.9, 0.01);
        done = sample_complete(ctx, &s, "", &c);
        CHECK_THAT(isfinite(c.train_error) && isfinite(c.held_out_error), "shape %d", k);
        CHECK(c.rank <= shapes[k][0] && c.rank <= shapes[k][1]);
        mgv_completion_free(ctx, done);
        done = sample_complete(ctx, &s, "select=last max_iter=30 biases=yes", &c);
        CHECK(isfinite(c.train_error));
        mgv_completion_free(ctx, done);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(the_discrepancy_and_budgets_end_a_run)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_completion_info c;
    sample s = sample_new(21, 100, 80, 3, 0.4, 0.3);
    char options[64];
    const double delta = 0.3 * sqrt((double)s.count);
    snprintf(options, sizeof options, "select=discrepancy:%.6g", delta);
    mgv_completion *done = sample_complete(ctx, &s, options, &c);
    CHECK(c.stop == MGV_STOP_DISCREPANCY && c.held_out == 0 && !c.finished && c.noise > 0);
    CHECK_LE(c.train_error, 0.3, "the noise level");
    CHECK(c.dual > 0 && c.primal > 0);
    mgv_completion_free(ctx, done);
    done = sample_complete(ctx, &s, "max_iter=7", &c);
    CHECK(c.stop == MGV_STOP_MAX_ITER && c.iterations == 7);
    mgv_completion_free(ctx, done);
    done = sample_complete(ctx, &s, "time_limit=0", &c);
    CHECK(c.stop == MGV_STOP_TIME);
    mgv_completion_free(ctx, done);
    done = sample_complete(ctx, &s, "finish=no rank_max=2", &c);
    CHECK(!c.finished && c.sweeps == 0 && c.rank <= 2 && c.stop == MGV_STOP_SELECTED);
    mgv_completion_free(ctx, done);
    done = sample_complete(ctx, &s, "rank_max=2", &c);
    CHECK(c.rank <= 2);
    mgv_completion_free(ctx, done);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

static int stop_at(void *user, const mgv_event *event)
{
    int64_t *left = user;
    return event->kind == MGV_EVENT_TRACE && --*left <= 0;
}

TEST(the_callback_ends_a_run_with_the_best_so_far)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(22, 100, 80, 3, 0.4, 0.3);
    for (int64_t events = 1; events < 16; events += 2) {
        int64_t left = events;
        mgv_completion_info c;
        mgv_ctx_on_event(ctx, stop_at, &left);
        mgv_completion *done = sample_complete(ctx, &s, "", &c);
        CHECK_THAT(c.stop == MGV_STOP_USER || left <= 0, "%d events", (int)events);
        CHECK(isfinite(c.held_out_error) && c.held_out_error <= 1.01 * c.baseline_error);
        mgv_completion_free(ctx, done);
    }
    mgv_ctx_on_event(ctx, NULL, NULL);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

TEST(the_same_bits_for_any_number_of_threads)
{
    sample s = sample_new(23, 300, 200, 4, 0.3, 0.3);
    double *first = NULL;
    for (int threads = 1; threads <= 5; threads += 2) {
        mgv_ctx *ctx = mgv_check_ctx();
        mgv_completion_info c;
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        mgv_completion *done = sample_complete(ctx, &s, "", &c);
        const size_t bytes = (size_t)(c.rows * c.rank) * sizeof *c.left;
        if (!first)
            first = memcpy(malloc(bytes), c.left, bytes);
        CHECK_THAT(memcmp(first, c.left, bytes) == 0, "%d threads", threads);
        mgv_completion_free(ctx, done);
        mgv_ctx_free(ctx);
    }
    free(first);
    sample_free(&s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *path(void)
{
    static char name[64];
    snprintf(name, sizeof name, "test_completion.%d.mgm", (int)getpid());
    return name;
}

TEST(files_predict_what_was_saved)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_completion_info c, d = {.size = sizeof d};
    mgv_completion *loaded;
    for (int biases = 0; biases < 2; biases++) {
        sample s = sample_new(24, 40, 30, 2, 0.5, 0.1);
        mgv_completion *done = sample_complete(ctx, &s, biases ? "biases=yes" : "biases=no", &c);
        CHECK_OK(ctx, mgv_completion_save(ctx, done, path()));
        CHECK(mgv_completion_is(ctx, path()));
        CHECK_OK(ctx, mgv_completion_load(ctx, path(), &loaded));
        mgv_completion_describe(loaded, &d);
        CHECK(d.rank == c.rank && d.rows == 40 && d.cols == 30 && d.biases == biases);
        CHECK(strcmp(d.formula, c.formula) == 0 && d.held_out_error == c.held_out_error);
        for (int64_t k = 0; k < 1200; k++)
            CHECK(completed(&c, k / 30, k % 30) == completed(&d, k / 30, k % 30));
        mgv_completion_free(ctx, loaded);
        mgv_completion_free(ctx, done);
        sample_free(&s);
    }
    mgv_model *model;
    CHECK_FAILS(ctx, mgv_model_load(ctx, path(), &model), MGV_E_INPUT, "this is a completion");
    CHECK(!mgv_completion_is(ctx, "no such file"));
    CHECK_FAILS(ctx, mgv_completion_load(ctx, "no such file", &loaded), MGV_E_IO, "no such file");
    remove(path());
    mgv_ctx_free(ctx);
}

/* Every file that is cut short, and every one with a byte changed, is refused or sound. */
TEST(damaged_files_get_a_sentence)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_completion_info c;
    mgv_completion *loaded;
    sample s = sample_new(25, 6, 5, 1, 0.9, 0.1);
    mgv_completion *done = sample_complete(ctx, &s, "biases=yes", &c);
    CHECK_OK(ctx, mgv_completion_save(ctx, done, path()));
    FILE *file = fopen(path(), "rb");
    char bytes[8192], *copy = malloc(sizeof bytes);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(size > 100 && size < sizeof bytes);
    for (size_t n = 0; n < size; n++) {
        memcpy(copy, bytes, n);
        CHECK(mgvi_completion_parse(ctx, "cut", copy, n, &loaded) == MGV_E_INPUT && !loaded);
        memcpy(copy, bytes, size);
        copy[n] = (char)(copy[n] ^ (1 << n % 8));
        if (mgvi_completion_parse(ctx, "changed", copy, size, &loaded) == MGV_OK)
            mgv_completion_free(ctx, loaded);
    }
    free(copy);
    remove(path());
    mgv_completion_free(ctx, done);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

/* ---- failures -------------------------------------------------------------------------------- */

typedef struct everything {
    mgv_settings *settings;
    mgv_triples *triples;
    mgv_completion *done, *loaded;
    char *report;
} everything;

static mgv_status use_everything(mgv_ctx *ctx, everything *x, const sample *s, const char *select)
{
    double values[4096];
    MGVI_TRY(mgv_settings_new(ctx, &x->settings));
    MGVI_TRY(mgv_settings_set(ctx, x->settings, "select", select));
    MGVI_TRY(mgv_settings_set(ctx, x->settings, "max_iter", "25"));
    MGVI_TRY(mgv_triples_new(ctx, s->count, s->row, s->col, s->value, 0, 0, &x->triples));
    MGVI_TRY(mgv_completion_run(ctx, x->triples, x->settings, &x->done));
    MGVI_TRY(mgv_completion_save(ctx, x->done, path()));
    MGVI_TRY(mgv_completion_load(ctx, path(), &x->loaded));
    MGVI_TRY(mgv_completion_predict(ctx, x->loaded, x->triples, 1, values));
    return mgv_report_completion(ctx, x->done, "data", "model", &x->report);
}

TEST(every_allocation_may_fail)
{
    static const char *const selects[] = {"holdout:0.1", "last"};
    sample s = sample_new(26, 25, 20, 2, 0.6, 0.1);
    for (int k = 0; k < 2; k++)
        for (long fail_at = 1;; fail_at += fail_at < 60 ? 1 : 7) {
            mgv_check_allocator a;
            mgv_ctx *ctx = NULL;
            everything x = {NULL, NULL, NULL, NULL, NULL};
            mgv_check_allocator_init(&a, fail_at);
            mgv_status st = mgv_ctx_new(&a.hooks, &ctx);
            if (st == MGV_OK)
                mgv_ctx_set_threads(ctx, 1);
            if (st == MGV_OK)
                st = use_everything(ctx, &x, &s, selects[k]);
            CHECK_THAT(st == MGV_OK || st == MGV_E_MEMORY, "allocation %ld: %s", fail_at,
                       mgv_status_name(st));
            if (ctx) {
                mgv_string_free(ctx, x.report);
                mgv_completion_free(ctx, x.loaded);
                mgv_completion_free(ctx, x.done);
                mgv_triples_free(ctx, x.triples);
                mgv_settings_free(ctx, x.settings);
            }
            mgv_ctx_free(ctx);
            assert_int_equal(a.live, 0);
            if (st == MGV_OK && a.calls < fail_at)
                break;
        }
    remove(path());
    sample_free(&s);
}

TEST(wrong_arguments_get_a_sentence)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *s;
    mgv_triples *t;
    mgv_completion *c;
    const int64_t row[] = {0, 1, 2}, bad[] = {0, -1, 2}, far[] = {0, 1, 9};
    const double value[] = {1, 2, 3}, nan[] = {1, NAN, 3};
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    CHECK_FAILS(ctx, mgv_triples_new(ctx, 3, row, bad, value, 0, 0, &t), MGV_E_INPUT,
                "entry 1: column -1");
    CHECK_FAILS(ctx, mgv_triples_new(ctx, 3, far, row, value, 3, 3, &t), MGV_E_INPUT,
                "entry 2: row 9; allowed: 0 to 2");
    CHECK_FAILS(ctx, mgv_triples_new(ctx, 3, row, row, nan, 3, 3, &t), MGV_E_INPUT, "entry 1 is");
    CHECK_FAILS(ctx, mgv_triples_new(ctx, -1, row, row, value, 3, 3, &t), MGV_E_ARG, "-1 entries");
    CHECK_FAILS(ctx, mgv_triples_new(ctx, 3, NULL, row, value, 3, 3, &t), MGV_E_ARG, "NULL");
    CHECK(t == NULL);
    CHECK_OK(ctx, mgv_triples_new(ctx, 3, row, row, NULL, 0, 0, &t));
    CHECK_FAILS(ctx, mgv_completion_run(ctx, t, s, &c), MGV_E_ARG, "values");
    mgv_triples_free(ctx, t);
    CHECK_OK(ctx, mgv_triples_new(ctx, 3, row, row, value, 0, 0, &t));
    CHECK_FAILS(ctx, mgv_completion_run(ctx, t, s, &c), MGV_E_INPUT, "too few entries (3)");
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "select", "cv:3"));
    CHECK_FAILS(ctx, mgv_completion_run(ctx, t, s, &c), MGV_E_UNSUPPORTED, "holdout:F");
    mgv_triples_free(ctx, t);
    CHECK_OK(ctx, mgv_triples_new(ctx, 0, row, row, value, 0, 0, &t));
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "select", "last"));
    CHECK_FAILS(ctx, mgv_completion_run(ctx, t, s, &c), MGV_E_INPUT, "no entries");
    CHECK(c == NULL);
    mgv_triples_free(ctx, t);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(
        rank_and_truth_are_found, ratings_get_biases_and_noise_gets_nothing, odd_matrices_end_well,
        the_discrepancy_and_budgets_end_a_run, the_callback_ends_a_run_with_the_best_so_far,
        the_same_bits_for_any_number_of_threads, files_predict_what_was_saved,
        damaged_files_get_a_sentence, every_allocation_may_fail, wrong_arguments_get_a_sentence);
}
