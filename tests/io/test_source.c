/* test_source.c - files, pipes and packed streams; what cannot be read gets a sentence. */
#include "tables.h"

#include "io/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "test_source.tmp";

enum { TEXT = 5000 };
static char text[TEXT + 1];

static void fill_text(void)
{
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int i = 0; i < TEXT; i++)
        text[i] = "0123456789:\n +-."[mgvi_rng_u32(&rng) % 16];
}

/* Writes `size` bytes of the text packed by a libarchive filter; false where it lacks the filter */
static bool pack(int (*filter)(struct archive *), size_t size)
{
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    archive_write_set_format_raw(a);
    bool ok = filter(a) == ARCHIVE_OK &&
              archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
              archive_write_open_filename(a, path) == ARCHIVE_OK;
    archive_entry_set_filetype(e, AE_IFREG);
    ok = ok && archive_write_header(a, e) == ARCHIVE_OK &&
         archive_write_data(a, text, size) == (la_ssize_t)size;
    ok = archive_write_close(a) == ARCHIVE_OK && ok;
    archive_write_free(a);
    archive_entry_free(e);
    return ok;
}

static int (*const filters[])(struct archive *) = {
    archive_write_add_filter_gzip, archive_write_add_filter_bzip2, archive_write_add_filter_xz,
    archive_write_add_filter_zstd};
enum { FILTERS = sizeof filters / sizeof *filters };

TEST(packed_files_are_unpacked)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int k = 0; k < FILTERS; k++) {
        for (size_t size = 0; size <= TEXT; size += TEXT / 2) {
            mgvi_source source;
            if (!pack(filters[k], size))
                continue;
            CHECK_OK(ctx, mgvi_source_open(ctx, path, NULL, &source));
            CHECK(source.size == size && source.mapped == 0);
            assert_memory_equal(source.bytes, text, size);
            mgvi_source_close(ctx, &source);
            CHECK(source.bytes == NULL);
        }
    }
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(cut_packed_files_are_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int k = 0; k < FILTERS; k++) {
        mgvi_source source;
        size_t size;
        if (!pack(filters[k], TEXT))
            continue;
        char *bytes = load_bytes(path, &size);
        for (size_t cut = 6; cut < size; cut += cut < 40 || size - cut < 40 ? 1 : 17) {
            save_bytes(path, bytes, cut);
            CHECK_FAILS(ctx, mgvi_source_open(ctx, path, NULL, &source), MGV_E_INPUT,
                        "test_source.tmp: the ");
            CHECK(source.bytes == NULL);
        }
        free(bytes);
    }
    unlink(path);
    mgv_ctx_free(ctx);
}

/* A bomb is told from a file by how much it grows; the limit is a setting. */
TEST(expansion_has_a_limit)
{
    mgv_ctx *ctx = mgv_check_ctx();
    CHECK(mgvi_unpack_most(250, 100) == 64 << 20);
    CHECK(mgvi_unpack_most(250, 1 << 20) == 250 << 20);
    CHECK(mgvi_unpack_most(INFINITY, 1 << 20) >= (size_t)1 << 62);
    for (int k = 0; k < FILTERS; k++) {
        size_t size;
        mgvi_blob blob;
        if (!pack(filters[k], TEXT))
            continue;
        char *bytes = load_bytes(path, &size);
        CHECK_OK(ctx, mgvi_unpack_stream(ctx, path, bytes, size, TEXT, &blob));
        CHECK(blob.size == TEXT);
        mgvi_release(ctx, blob.bytes);
        for (size_t most = 0; most < TEXT; most = 2 * most + TEXT / 16)
            CHECK_FAILS(ctx, mgvi_unpack_stream(ctx, path, bytes, size, most, &blob), MGV_E_INPUT,
                        "a larger max_expansion");
        CHECK_FAILS(ctx, mgvi_unpack_stream(ctx, path, bytes, size, TEXT - 1, &blob), MGV_E_INPUT,
                    "a larger max_expansion");
        CHECK(blob.bytes == NULL);
        free(bytes);
    }
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(a_wrong_gzip_check_sum_is_seen)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_source source;
    size_t size;
    if (!pack(archive_write_add_filter_gzip, TEXT))
        skip();
    char *bytes = load_bytes(path, &size);
    bytes[size - 8] ^= 1;
    save_bytes(path, bytes, size);
    CHECK_FAILS(ctx, mgvi_source_open(ctx, path, NULL, &source), MGV_E_INPUT, "check sum is wrong");
    bytes[size - 8] ^= 1;
    char *twice = malloc(2 * size); /* two members are one longer file */
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    save_bytes(path, twice, 2 * size);
    CHECK_OK(ctx, mgvi_source_open(ctx, path, NULL, &source));
    CHECK(source.size == 2 * TEXT);
    assert_memory_equal(source.bytes + TEXT, text, TEXT);
    mgvi_source_close(ctx, &source);
    free(twice);
    free(bytes);
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(plain_files_are_mapped_and_empty_ones_are_empty)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_source source;
    mgv_data *data;
    save_bytes(path, text, TEXT);
    CHECK_OK(ctx, mgvi_source_open(ctx, path, NULL, &source));
    CHECK(source.size == TEXT && source.mapped == TEXT);
    assert_memory_equal(source.bytes, text, TEXT);
    mgvi_source_close(ctx, &source);
    save_bytes(path, "BZhang,1\n", 9); /* not bzip2 */
    CHECK_OK(ctx, mgvi_source_open(ctx, path, NULL, &source));
    CHECK(source.size == 9);
    mgvi_source_close(ctx, &source);
    save_bytes(path, text, 0);
    CHECK_OK(ctx, mgvi_source_open(ctx, path, NULL, &source));
    CHECK(source.size == 0 && source.mapped == 0 && source.bytes);
    mgvi_source_close(ctx, &source);
    CHECK_FAILS(ctx, mgvi_read_file(ctx, path, NULL, &data), MGV_E_INPUT, "the file is empty");
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(what_cannot_be_opened_is_told)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_source source;
    CHECK_FAILS(ctx, mgvi_source_open(ctx, "no such file", NULL, &source), MGV_E_IO,
                "no such file: cannot be opened: No such file");
    CHECK_FAILS(ctx, mgvi_source_open(ctx, ".", NULL, &source), MGV_E_IO, ".: is a directory");
    save_bytes(path, text, TEXT);
    if (geteuid() != 0) {
        chmod(path, 0);
        CHECK_FAILS(ctx, mgvi_source_open(ctx, path, NULL, &source), MGV_E_IO, "Permission denied");
    }
    unlink(path);
    mgv_ctx_free(ctx);
}

/* A pipe longer than the first block that is read. */
TEST(pipes_and_standard_input_are_read_to_the_end)
{
    enum { TIMES = 500 };
    mgv_ctx *ctx = mgv_check_ctx();
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < TIMES; i++)
            if (write(ends[1], text, TEXT) != TEXT)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    const int saved = dup(STDIN_FILENO);
    CHECK(dup2(ends[0], STDIN_FILENO) >= 0);
    mgvi_source source;
    CHECK_OK(ctx, mgvi_source_open(ctx, "-", NULL, &source));
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    assert_string_equal(source.path, "standard input");
    CHECK(source.size == (size_t)TIMES * TEXT && source.mapped == 0);
    for (int i = 0; i < TIMES; i++)
        CHECK(memcmp(source.bytes + (size_t)i * TEXT, text, TEXT) == 0);
    mgvi_source_close(ctx, &source);
    waitpid(child, NULL, 0);
    mgv_ctx_free(ctx);
}

TEST(a_failing_allocation_is_clean)
{
    for (int k = -1; k < FILTERS; k++) {
        mgv_status st = MGV_E_MEMORY;
        if (k < 0)
            save_bytes(path, text, 0); /* read, not mapped */
        else if (!pack(filters[k], TEXT))
            continue;
        for (long at = 1; st != MGV_OK; at++) {
            mgv_check_allocator a;
            mgv_check_allocator_init(&a, 0);
            mgv_ctx *ctx;
            mgvi_source source;
            assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
            a.fail_at = a.calls + at;
            st = mgvi_source_open(ctx, path, NULL, &source);
            if (st == MGV_OK)
                mgvi_source_close(ctx, &source);
            else
                assert_int_equal(st, MGV_E_MEMORY);
            mgv_ctx_free(ctx);
            assert_int_equal(a.live, 0);
            CHECK(at < 100);
        }
    }
    unlink(path);
}

int main(void)
{
    fill_text();
    return RUN(packed_files_are_unpacked, expansion_has_a_limit, cut_packed_files_are_refused,
               a_wrong_gzip_check_sum_is_seen, plain_files_are_mapped_and_empty_ones_are_empty,
               what_cannot_be_opened_is_told, pipes_and_standard_input_are_read_to_the_end,
               a_failing_allocation_is_clean);
}
