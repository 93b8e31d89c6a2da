/* test_sink.c - files appear whole or not at all. */
#include "check.h"

#include "base/sink.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "test_sink.XXXXXX";

static char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int files(void)
{
    int count = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static char *content(const char *path)
{
    static char text[1 << 18];
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void write_text(mgv_ctx *ctx, const char *path, const char *text, bool keep)
{
    mgvi_sink *sink;
    CHECK_OK(ctx, mgvi_sink_open(ctx, path, &sink));
    mgvi_sink_printf(sink, "%s", text);
    CHECK_OK(ctx, mgvi_sink_close(sink, keep));
}

TEST(the_old_file_stays_until_the_new_one_is_whole)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const char *path = in_directory("a");
    mgvi_sink *sink, *twin;
    write_text(ctx, path, "old", true);
    CHECK_OK(ctx, mgvi_sink_open(ctx, path, &sink));
    CHECK_OK(ctx, mgvi_sink_open(ctx, path, &twin)); /* another writer has its own name */
    mgvi_sink_write(sink, "new", 3);
    assert_string_equal(content(path), "old");
    CHECK_OK(ctx, mgvi_sink_close(sink, true));
    assert_string_equal(content(path), "new");
    CHECK_OK(ctx, mgvi_sink_close(twin, false));
    write_text(ctx, path, "given up", false);
    assert_string_equal(content(path), "new");
    CHECK(files() == 1);
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(writes_of_every_size_arrive_in_order)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const char *path = in_directory("b");
    static char big[100000];
    mgvi_sink *sink;
    memset(big, 'x', sizeof big - 1);
    CHECK_OK(ctx, mgvi_sink_open(ctx, path, &sink));
    for (int i = 0; i < 5000; i++)
        mgvi_sink_printf(sink, "%04d\n", i);
    mgvi_sink_write(sink, big, sizeof big - 1);
    mgvi_sink_printf(sink, "%s%.1f", big, 0.5);
    CHECK_OK(ctx, mgvi_sink_close(sink, true));
    const char *text = content(path);
    for (int i = 0; i < 5000; i++)
        CHECK(atoi(text + 5 * i) == i);
    CHECK(strlen(text) == 25000 + 2 * (sizeof big - 1) + 3);
    assert_string_equal(text + strlen(text) - 4, "x0.5");
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(links_and_devices_are_kept)
{
    mgv_ctx *ctx = mgv_check_ctx();
    char target[256];
    struct stat info;
    strcpy(target, in_directory("target"));
    const char *link = in_directory("link");
    write_text(ctx, target, "1", true);
    CHECK(symlink("target", link) == 0);
    write_text(ctx, link, "2", true);
    assert_string_equal(content(target), "2");
    CHECK(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    unlink(link);
    unlink(target);
    write_text(ctx, "/dev/null", "gone", true);
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    mgv_ctx_free(ctx);
}

/* The host has closed its standard output: what it prints must not land in our file. */
TEST(standard_descriptors_are_left_alone)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const char *path = in_directory("d");
    mgvi_sink *sink;
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    close(STDOUT_FILENO);
    const mgv_status st = mgvi_sink_open(ctx, path, &sink);
    const ssize_t stray = write(STDOUT_FILENO, "stray", 5);
    mgvi_sink_write(sink, "ours", 4);
    const mgv_status closed = mgvi_sink_close(sink, true);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    CHECK(st == MGV_OK && closed == MGV_OK && stray < 0);
    assert_string_equal(content(path), "ours");
    unlink(path);
    mgv_ctx_free(ctx);
}

TEST(names_up_to_the_limit_can_be_written)
{
    mgv_ctx *ctx = mgv_check_ctx();
    char name[256], whole[400];
    memset(name, 'n', 255);
    name[255] = 0;
    snprintf(whole, sizeof whole, "%s/%s", directory, name);
    write_text(ctx, whole, "long", true);
    assert_string_equal(content(whole), "long");
    CHECK(chmod(whole, 0600) == 0);
    write_text(ctx, whole, "again", true);
    struct stat info;
    CHECK(stat(whole, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(files() == 1);
    unlink(whole);
    mgv_ctx_free(ctx);
}

TEST(a_name_can_be_tried)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const char *path = in_directory("e");
    write_text(ctx, path, "old", true);
    CHECK_OK(ctx, mgvi_sink_try(ctx, path));
    assert_string_equal(content(path), "old");
    CHECK(files() == 1);
    unlink(path);
    CHECK_FAILS(ctx, mgvi_sink_try(ctx, "no/such/folder/e"), MGV_E_IO, "cannot be written");
    mgv_ctx_free(ctx);
}

/* The reason comes last in a sentence and stays, however long the name is. */
TEST(a_long_path_leaves_room_for_the_reason)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static char path[6001];
    mgvi_sink *sink;
    memset(path, 'p', sizeof path - 1);
    CHECK_FAILS(ctx, mgvi_sink_open(ctx, path, &sink), MGV_E_IO,
                "ppp: cannot be written: File name too long");
    CHECK_FAILS(ctx, MGV_E_IO, MGV_E_IO, " ... ");
    mgv_ctx_free(ctx);
}

TEST(faults_are_told_with_the_path)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_sink *sink;
    CHECK_FAILS(ctx, mgvi_sink_open(ctx, "no/such/folder/file", &sink), MGV_E_IO,
                "no/such/folder/file: cannot be written: No such file");
    CHECK_FAILS(ctx, mgvi_sink_open(ctx, directory, &sink), MGV_E_IO, "Is a directory");
    if (access("/dev/full", W_OK) == 0) {
        CHECK_OK(ctx, mgvi_sink_open(ctx, "/dev/full", &sink));
        mgvi_sink_write(sink, "x", 1);
        CHECK_FAILS(ctx, mgvi_sink_close(sink, true), MGV_E_IO,
                    "/dev/full: cannot be written: No space left");
    }
    CHECK(files() == 0);
    mgv_ctx_free(ctx);
}

TEST(a_failing_allocation_leaves_no_file)
{
    for (long k = 1;; k++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        mgvi_sink *sink;
        static char big[70000];
        memset(big, 'x', sizeof big - 1);
        assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
        a.fail_at = a.calls + k;
        mgv_status st = mgvi_sink_open(ctx, in_directory("c"), &sink);
        if (st == MGV_OK) {
            mgvi_sink_printf(sink, "%s", big);
            st = mgvi_sink_close(sink, true);
        }
        mgv_ctx_free(ctx);
        assert_int_equal(a.live, 0);
        CHECK(files() == (st == MGV_OK));
        unlink(in_directory("c"));
        if (st == MGV_OK)
            break;
        assert_int_equal(st, MGV_E_MEMORY);
        CHECK(k < 100);
    }
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    const int failed =
        RUN(the_old_file_stays_until_the_new_one_is_whole, writes_of_every_size_arrive_in_order,
            links_and_devices_are_kept, standard_descriptors_are_left_alone,
            names_up_to_the_limit_can_be_written, a_name_can_be_tried,
            a_long_path_leaves_room_for_the_reason, faults_are_told_with_the_path,
            a_failing_allocation_leaves_no_file);
    rmdir(directory);
    return failed;
}
