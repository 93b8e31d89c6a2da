/* test_binary.c - what the binary writers write is read back exactly, in every layout; cut files
 * and failing allocations leave a sentence and nothing else. */
#include "tables.h"

#include <unistd.h>

/* What each format keeps. */
static const struct {
    const char *path;
    bool sparse, labels;
} formats[] = {{"test_binary.tmp.mgd", true, true},
               {"test_binary.tmp.npz", true, true},
               {"test_binary.tmp.npy", false, false}};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool holds(int format, table_form form, table_labels labels, bool extras)
{
    return (form < FORM_CSR || formats[format].sparse) &&
           ((labels == LABELS_NONE && !extras) || formats[format].labels);
}

#define FOR_EVERY_TABLE(format, form, dtype, labels, extras)                                       \
    for (int format = 0; format < FORMATS; format++)                                               \
        for (table_form form = 0; form < FORMS; form++)                                            \
            for (mgv_dtype dtype = MGV_F32; dtype <= MGV_F64; dtype++)                             \
                for (table_labels labels = 0; labels < LABEL_KINDS; labels++)                      \
                    for (int extras = 0; extras < 2; extras++)                                     \
                        if (holds(format, form, labels, extras))

TEST(every_table_comes_back_exactly)
{
    mgv_ctx *ctx = mgv_check_ctx();
    FOR_EVERY_TABLE(f, form, dtype, labels, extras)
    {
        mgv_data *before, *after;
        CHECK_OK(ctx, table_new(ctx, form, dtype, labels, extras, &before));
        CHECK_OK(ctx, mgvi_write_file(ctx, before, formats[f].path, NULL));
        CHECK_OK(ctx, mgvi_read_file(ctx, formats[f].path, NULL, &after));
        CHECK_OK(ctx, mgvi_data_check_once(ctx, after));
        check_same_table(before, after);
        CHECK(after->load_seconds > 0 && strstr(formats[f].path, after->format));
        mgvi_data_free(ctx, before);
        mgvi_data_free(ctx, after);
        unlink(formats[f].path);
    }
    mgv_ctx_free(ctx);
}

TEST(files_cut_anywhere_are_refused_with_their_name)
{
    mgv_ctx *ctx = mgv_check_ctx();
    FOR_EVERY_TABLE(f, form, dtype, labels, extras)
    {
        mgv_data *data;
        size_t size;
        if (dtype == MGV_F32 || form == FORM_STRIDED ||
            labels != (formats[f].labels ? LABELS_NUMBERS : LABELS_NONE))
            continue;
        CHECK_OK(ctx, table_new(ctx, form, dtype, labels, extras, &data));
        CHECK_OK(ctx, mgvi_write_file(ctx, data, formats[f].path, NULL));
        mgvi_data_free(ctx, data);
        char *bytes = load_bytes(formats[f].path, &size);
        for (size_t cut = 0; cut < size; cut++) {
            const mgv_status st = read_bytes(ctx, formats[f].path, bytes, cut, &data);
            if (st != MGV_OK)
                mgv_check_failure(ctx, "read_bytes", st, MGV_E_INPUT, formats[f].path);
            else /* libarchive finds the members of a zip file without its directory */
                CHECK_THAT(strstr(formats[f].path, "npz"), "%s cut at %zu of %zu was read",
                           formats[f].path, cut, size);
            mgvi_data_free(ctx, data);
        }
        free(bytes);
        unlink(formats[f].path);
    }
    mgv_ctx_free(ctx);
}

/* Every byte of a small file replaced: refused or read, never worse (the sanitizers watch). */
TEST(damaged_bytes_do_no_harm)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *npz;
    CHECK_OK(ctx, mgv_settings_new(ctx, &npz));
    CHECK_OK(ctx, mgv_settings_set(ctx, npz, "format", "npz"));
    FOR_EVERY_TABLE(f, form, dtype, labels, extras)
    {
        mgv_data *data;
        size_t size;
        if (dtype == MGV_F64 || labels != LABELS_WORDS || !extras || form == FORM_STRIDED)
            continue;
        CHECK_OK(ctx, table_new(ctx, form, dtype, labels, extras, &data));
        CHECK_OK(ctx, mgvi_write_file(ctx, data, formats[f].path, NULL));
        mgvi_data_free(ctx, data);
        char *bytes = load_bytes(formats[f].path, &size);
        for (size_t i = 0; i < size; i++) {
            const char old = bytes[i];
            const char others[] = {(char)~old, (char)(old ^ 1), (char)(old ^ 0x80)};
            const size_t tries = f == 0 ? sizeof others : 1; /* zip has check sums */
            for (size_t k = 0; k < tries; k++) {
                bytes[i] = others[k];
                if (read_bytes(ctx, formats[f].path, bytes, size, &data) == MGV_OK) {
                    if (f == 0) /* whose labels are used where they lie */
                        CHECK_OK(ctx, mgvi_write_file(ctx, data, "/dev/null", npz));
                    mgvi_data_free(ctx, data);
                }
            }
            bytes[i] = old;
        }
        free(bytes);
        unlink(formats[f].path);
    }
    mgv_settings_free(ctx, npz);
    mgv_ctx_free(ctx);
}

static mgv_status there_and_back(mgv_ctx *ctx, int format, table_form form, table_labels labels)
{
    mgv_data *data;
    MGVI_TRY(table_new(ctx, form, MGV_F32, labels, labels != LABELS_NONE, &data));
    mgv_status st = mgvi_write_file(ctx, data, formats[format].path, NULL);
    mgvi_data_free(ctx, data);
    MGVI_TRY(st);
    MGVI_TRY(mgvi_read_file(ctx, formats[format].path, NULL, &data));
    st = mgvi_data_check_once(ctx, data);
    mgvi_data_free(ctx, data);
    return st;
}

TEST(the_kth_allocation_may_fail)
{
    for (int f = 0; f < FORMATS; f++) {
        const table_form form = formats[f].sparse ? FORM_CSC : FORM_STRIDED;
        const table_labels labels = formats[f].labels ? LABELS_WORDS : LABELS_NONE;
        mgv_status st = MGV_E_MEMORY;
        for (long k = 1; st != MGV_OK; k++) {
            mgv_check_allocator a;
            mgv_check_allocator_init(&a, 0);
            mgv_ctx *ctx;
            assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
            const long before = a.live;
            a.fail_at = a.calls + k;
            st = there_and_back(ctx, f, form, labels);
            assert_int_equal(a.live, before);
            CHECK_THAT(st == MGV_OK || st == MGV_E_MEMORY, "%s, allocation %ld: %s",
                       formats[f].path, k, mgv_ctx_error(ctx));
            mgv_ctx_free(ctx);
            CHECK(k < 1000);
        }
        unlink(formats[f].path);
    }
}

TEST(settings_choose_format_precision_and_width)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data, *copy;
    mgv_settings *s;
    const char *path = "test_binary.tmp.dat";
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    CHECK_OK(ctx, table_new(ctx, FORM_CSR, MGV_F64, LABELS_NUMBERS, false, &data));
    CHECK_FAILS(ctx, mgvi_write_file(ctx, data, path, s), MGV_E_ARG,
                "test_binary.tmp.dat: the name does not tell the format");
    CHECK_FAILS(ctx, mgvi_write_file(ctx, data, "-", s), MGV_E_ARG, "standard output");
    CHECK_FAILS(ctx, mgvi_write_file(ctx, data, "a.npz.gz", s), MGV_E_UNSUPPORTED, "'.gz'");
    CHECK_FAILS(ctx, mgvi_write_file(ctx, data, "a.npy", s), MGV_E_UNSUPPORTED, "write sparse");
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "format", "nothing"));
    CHECK_FAILS(ctx, mgvi_write_file(ctx, data, path, s), MGV_E_ARG, "no writer 'nothing'");
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "format", "mgd"));
    CHECK_OK(ctx, mgvi_write_file(ctx, data, path, s));
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "format", "npz"));
    CHECK_FAILS(ctx, mgvi_read_file(ctx, path, s, &copy), MGV_E_INPUT, "zip");
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "format", "nothing"));
    CHECK_FAILS(ctx, mgvi_read_file(ctx, path, s, &copy), MGV_E_ARG, "no reader 'nothing'");
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "format", "auto"));
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "precision", "f32"));
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "features", "7"));
    CHECK_OK(ctx, mgvi_read_file(ctx, path, s, &copy));
    CHECK_OK(ctx, mgvi_data_check_once(ctx, copy));
    CHECK(copy->X.dtype == MGV_F32 && copy->X.cols == 7);
    for (int64_t t = 0; t < data->X.nnz; t++)
        CHECK(((const float *)copy->X.val)[t] == (float)((const double *)data->X.val)[t]);
    mgvi_data_free(ctx, copy);
    CHECK_OK(ctx, mgv_settings_set(ctx, s, "features", "4"));
    CHECK_FAILS(ctx, mgvi_read_file(ctx, path, s, &copy), MGV_E_INPUT,
                "has 5 columns, but features is 4");
    mgvi_data_free(ctx, data);
    unlink(path);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
}

TEST(every_registered_name_is_unique_and_described)
{
    for (int i = 0; i < mgvi_reader_count(); i++) {
        const mgvi_reader *r = mgvi_reader_at(i);
        CHECK(r->summary[0] && r->extensions && r->probe && r->read);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(r->name, mgvi_reader_at(j)->name) != 0);
    }
    for (int i = 0; i < mgvi_writer_count(); i++) {
        const mgvi_writer *w = mgvi_writer_at(i);
        CHECK(w->summary[0] && w->extensions[0] && w->write);
    }
}

int main(void)
{
    return RUN(every_table_comes_back_exactly, files_cut_anywhere_are_refused_with_their_name,
               damaged_bytes_do_no_harm, the_kth_allocation_may_fail,
               settings_choose_format_precision_and_width,
               every_registered_name_is_unique_and_described);
}
