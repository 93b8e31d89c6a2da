/* unpack.c - reads compressed streams and zip members into allocator memory. */
#include "io/unpack.h"

#include "base/limit.h"
#include "io/io.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

enum { CHUNK = 1 << 16, STRETCH = 1 << 19 }; /* STRETCH: bytes between two looks at the limit */

static const struct {
    const char *kind, *suffix, *magic;
    size_t length;
    int (*support)(struct archive *);
} packers[] = {{"gzip", ".gz", "\x1f\x8b", 2, archive_read_support_filter_gzip},
               {"bzip2", ".bz2", "BZh", 3, archive_read_support_filter_bzip2},
               {"xz", ".xz", "\xfd\x37\x7a\x58\x5a", 6, archive_read_support_filter_xz},
               {"zstd", ".zst", "\x28\xb5\x2f\xfd", 4, archive_read_support_filter_zstd}};
enum { PACKERS = sizeof packers / sizeof *packers };

/* Text may begin with BZh; a bzip2 stream goes on with a digit and a block or end mark. */
static bool is_text_after_all(const char *bytes, size_t size)
{
    return bytes[0] == 'B' && size > 4 &&
           (bytes[3] < '1' || bytes[3] > '9' || (bytes[4] != 0x31 && bytes[4] != 0x17));
}

static int packer_of(const char *bytes, size_t size)
{
    for (int k = 0; k < PACKERS; k++)
        if (size >= packers[k].length && memcmp(bytes, packers[k].magic, packers[k].length) == 0)
            return is_text_after_all(bytes, size) ? -1 : k;
    return -1;
}

const char *mgvi_unpack_kind(const char *bytes, size_t size)
{
    const int k = packer_of(bytes, size);
    return k < 0 ? NULL : packers[k].kind;
}

size_t mgvi_unpack_stem(const char *path)
{
    const size_t length = strlen(path);
    for (int k = 0; k < PACKERS; k++) {
        const size_t suffix = strlen(packers[k].suffix);
        if (length > suffix && strcmp(path + length - suffix, packers[k].suffix) == 0)
            return length - suffix;
    }
    return length;
}

static mgv_status damaged(mgv_ctx *ctx, const char *path, const char *kind, struct archive *a)
{
    const char *why = archive_error_string(a);
    return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the %s content is damaged or truncated: %s", path, kind,
                     why ? why : "no reason given");
}

size_t mgvi_unpack_most(double expansion, size_t size)
{
    const size_t always = (size_t)64 << 20;
    const double most = expansion * (double)size;
    return most <= (double)always ? always : most < 0x1p62 ? (size_t)most : (size_t)1 << 62;
}

static mgv_status too_large(mgv_ctx *ctx, const char *path, const char *kind, size_t most)
{
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "%s: unpacked, the %s content is larger than %zu bytes; if it is meant to be, "
                     "allow it with a larger max_expansion",
                     path, kind, most);
}

/* Half as much room again, but none for what is not allowed anyway. */
static bool grow(mgv_ctx *ctx, mgvi_blob *blob, size_t *capacity, size_t most)
{
    size_t wanted = *capacity + *capacity / 2 + CHUNK;
    if (wanted > most + 1)
        wanted = most + 1; /* one more, to see that it is too many */
    char *grown = mgvi_grow(ctx, blob->bytes, *capacity, wanted, 1);
    if (!grown)
        return false;
    blob->bytes = grown;
    *capacity = wanted;
    return true;
}

/* Reads the open entry to its end. `hint` is the size to expect, never trusted. */
static mgv_status drain(mgv_ctx *ctx, const char *path, const char *kind, struct archive *a,
                        size_t hint, size_t most, mgvi_blob *out)
{
    size_t capacity = (hint < most ? hint : most) + 1; /* the end is seen without growing */
    mgv_status st = MGV_OK;
    mgvi_blob blob = {.bytes = mgvi_alloc(ctx, capacity, 1)};
    if (!blob.bytes)
        return MGV_E_MEMORY;
    while (st == MGV_OK) {
        if (blob.size > most)
            st = too_large(ctx, path, kind, most);
        else if (blob.size == capacity && !grow(ctx, &blob, &capacity, most))
            st = MGV_E_MEMORY;
        if (st != MGV_OK)
            break;
        if (mgvi_ctx_cut(ctx)) {
            st = mgvi_read_whole(ctx, path);
            break;
        }
        const size_t room = capacity - blob.size < STRETCH ? capacity - blob.size : STRETCH;
        const la_ssize_t got = archive_read_data(a, blob.bytes + blob.size, room);
        if (got == ARCHIVE_RETRY)
            continue;
        if (got < 0)
            st = damaged(ctx, path, kind, a);
        if (got <= 0)
            break;
        blob.size += (size_t)got;
    }
    if (st == MGV_OK)
        *out = blob;
    else
        mgvi_release(ctx, blob.bytes);
    return st;
}

static uint32_t crc32(mgv_ctx *ctx, const char *bytes, size_t size)
{
    uint32_t table[256], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (const char *end = bytes + size; bytes < end && !mgvi_ctx_cut(ctx);)
        for (const char *stop = end - bytes < STRETCH ? end : bytes + STRETCH; bytes < stop;)
            crc = (crc >> 8) ^ table[(crc ^ (unsigned char)*bytes++) & 255];
    return ~crc;
}

/* libarchive does not look at gzip's check sum. When the length in the trailer is ours, there was
 * one member and the sum must be ours too. */
static mgv_status check_gzip(mgv_ctx *ctx, const char *path, const char *bytes, size_t size,
                             const mgvi_blob *blob)
{
    uint32_t trailer[2];
    if (size < sizeof trailer)
        return MGV_OK;
    memcpy(trailer, bytes + size - sizeof trailer, sizeof trailer);
    if (trailer[1] != (uint32_t)blob->size || trailer[0] == crc32(ctx, blob->bytes, blob->size))
        return MGV_OK;
    MGVI_TRY(mgvi_read_whole(ctx, path));
    return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the gzip content is damaged: its check sum is wrong",
                     path);
}

mgv_status mgvi_unpack_stream(mgv_ctx *ctx, const char *path, const char *bytes, size_t size,
                              size_t most, mgvi_blob *out)
{
    const int k = packer_of(bytes, size);
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    mgv_status st;
    *out = (mgvi_blob){0};
    if (!a || k < 0)
        st = MGVI_FAIL(ctx, MGV_E_MEMORY, "%s: out of memory before unpacking", path);
    else if (packers[k].support(a) != ARCHIVE_OK ||
             archive_read_support_format_raw(a) != ARCHIVE_OK ||
             archive_read_support_format_empty(a) != ARCHIVE_OK)
        st = MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "%s: this libarchive cannot read %s content", path,
                       packers[k].kind);
    else if (archive_read_open_memory(a, bytes, size) != ARCHIVE_OK)
        st = damaged(ctx, path, packers[k].kind, a);
    else if (archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE)
        st = MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the %s content is damaged or truncated", path,
                       packers[k].kind);
    else
        switch (archive_read_next_header(a, &entry)) {
        case ARCHIVE_OK:
            st = drain(ctx, path, packers[k].kind, a, 4 * size, most, out);
            break;
        case ARCHIVE_EOF: /* an empty file, packed */
            out->bytes = mgvi_alloc(ctx, 1, 1);
            st = out->bytes ? MGV_OK : MGV_E_MEMORY;
            break;
        default:
            st = damaged(ctx, path, packers[k].kind, a);
        }
    archive_read_free(a);
    if (st == MGV_OK && strcmp(packers[k].kind, "gzip") == 0)
        st = check_gzip(ctx, path, bytes, size, out);
    if (st != MGV_OK) {
        mgvi_release(ctx, out->bytes);
        *out = (mgvi_blob){0};
    }
    return st;
}

static int index_of(const char *name, const char *const *names, int count)
{
    for (int k = 0; name && k < count; k++)
        if (strcmp(name, names[k]) == 0)
            return k;
    return -1;
}

static mgv_status read_members(mgv_ctx *ctx, const char *path, struct archive *a, size_t packed,
                               size_t most, const char *const *names, int count, mgvi_blob *out)
{
    struct archive_entry *entry;
    for (;;) {
        const int code = archive_read_next_header(a, &entry);
        if (code == ARCHIVE_EOF)
            return MGV_OK;
        if (code == ARCHIVE_RETRY)
            continue;
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
            return damaged(ctx, path, "zip", a);
        const int k = index_of(archive_entry_pathname(entry), names, count);
        if (k < 0)
            continue;
        if (out[k].bytes)
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: there are two members '%s'", path, names[k]);
        /* Deflate packs at most 1032 to 1: a larger claim is not believed. */
        const int64_t claim = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : CHUNK;
        const size_t possible = packed > SIZE_MAX / 1032 - 1 ? packed : 1032 * packed;
        const size_t hint = claim < 0 || (uint64_t)claim > possible ? CHUNK : (size_t)claim;
        if (hint > most) /* no need to unpack what tells its size */
            return too_large(ctx, path, "zip", most);
        MGVI_TRY(drain(ctx, path, "zip", a, hint, most, &out[k]));
        most -= out[k].size;
    }
}

mgv_status mgvi_unpack_members(mgv_ctx *ctx, const char *path, const char *bytes, size_t size,
                               size_t most, const char *const *names, int count, mgvi_blob *out)
{
    struct archive *a = archive_read_new();
    mgv_status st;
    memset(out, 0, (size_t)count * sizeof *out);
    if (!a)
        return MGVI_FAIL(ctx, MGV_E_MEMORY, "%s: out of memory before unpacking", path);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    archive_read_support_format_zip(a);
    archive_read_set_options(a, "zip:ignorecrc32"); /* the fuzzer cannot guess check sums */
#endif
    if (archive_read_support_format_zip(a) != ARCHIVE_OK ||
        archive_read_open_memory(a, bytes, size) != ARCHIVE_OK)
        st = damaged(ctx, path, "zip", a);
    else
        st = read_members(ctx, path, a, size, most, names, count, out);
    archive_read_free(a);
    for (int k = 0; st != MGV_OK && k < count; k++) {
        mgvi_release(ctx, out[k].bytes);
        out[k] = (mgvi_blob){0};
    }
    return st;
}
