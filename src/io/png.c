/* png.c - PNG by libpng: every colour type and bit depth in, grey or RGB with or without alpha of 8
 * or 16 bits out. Values are taken as they are stored: no gamma, no colour profile.
 *
 * libpng reports faults by a jump. What must survive it lives in a `job`, which no function that
 * calls setjmp keeps in its own variables. */
#include "io/image_io.h"

#include <png.h>
#include <setjmp.h>
#include <string.h>

typedef struct job {
    mgv_ctx *ctx;
    const char *path;
    png_structp png;
    png_infop info;
    char message[160];
    bool no_memory;
    /* reading */
    const char *bytes;
    size_t size, at;
    unsigned char *rows; /* height lines of row_bytes */
    size_t row_bytes;
    int passes; /* of an interlaced image */
    mgv_image *image;
    /* writing */
    mgvi_sink *sink;
} job;

/* ---- what libpng calls ------------------------------------------------------------------------
 */

static void on_error(png_structp png, png_const_charp text)
{
    job *j = png_get_error_ptr(png);
    snprintf(j->message, sizeof j->message, "%s", text ? text : "damaged");
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static png_voidp on_alloc(png_structp png, png_alloc_size_t size)
{
    job *j = png_get_mem_ptr(png);
    void *memory = mgvi_alloc(j->ctx, size, 1);
    j->no_memory |= !memory;
    return memory;
}

static void on_free(png_structp png, png_voidp memory)
{
    job *j = png_get_mem_ptr(png);
    mgvi_release(j->ctx, memory);
}

static void on_read(png_structp png, png_bytep out, size_t count)
{
    job *j = png_get_io_ptr(png);
    if (count > j->size - j->at)
        png_error(png, "the file is truncated");
    memcpy(out, j->bytes + j->at, count);
    j->at += count;
}

static void on_write(png_structp png, png_bytep bytes, size_t count)
{
    job *j = png_get_io_ptr(png);
    mgvi_sink_write(j->sink, bytes, count);
}

static void on_flush(png_structp png) { (void)png; }

static mgv_status complain(const job *j)
{
    if (j->no_memory)
        return MGV_E_MEMORY; /* the allocator has left the sentence */
    return MGVI_FAIL(j->ctx, MGV_E_INPUT, "%s: is not a PNG file that can be read: %s", j->path,
                     j->message);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Everything becomes grey or RGB of 8 or 16 bits, with alpha where the file has transparency. */
static void ask_for_plain_pixels(job *j)
{
    png_set_expand(j->png); /* palettes, fewer than 8 bits, a transparent colour */
    j->passes = png_set_interlace_handling(j->png);
    png_read_update_info(j->png, j->info);
}

static bool read_header(job *j)
{
    if (setjmp(png_jmpbuf(j->png)))
        return false;
    png_set_read_fn(j->png, j, on_read);
    png_set_user_limits(j->png, MGVI_IMAGE_SIDE_MAX, MGVI_IMAGE_SIDE_MAX);
    png_set_chunk_malloc_max(j->png, 1 << 23);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    png_set_crc_action(j->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#endif
    png_read_info(j->png, j->info);
    ask_for_plain_pixels(j);
    return true;
}

static bool read_rows(job *j)
{
    const png_uint_32 height = png_get_image_height(j->png, j->info);
    if (setjmp(png_jmpbuf(j->png)))
        return false;
    for (int pass = 0; pass < j->passes; pass++)
        for (png_uint_32 i = 0; i < height; i++)
            png_read_row(j->png, j->rows + i * j->row_bytes, NULL);
    png_read_end(j->png, NULL);
    return true;
}

static double number_at(const unsigned char *line, int64_t index, int depth)
{
    if (depth == 8)
        return line[index] / 255.0;
    return (256 * line[2 * index] + line[2 * index + 1]) / 65535.0;
}

static void take_pixels(const job *j, int depth)
{
    const mgv_image *image = j->image;
    const int64_t colours = image->channels, stride = colours + (image->alpha != NULL);
    for (int64_t i = 0; i < image->height; i++) {
        const unsigned char *line = j->rows + (size_t)i * j->row_bytes;
        for (int64_t x = 0; x < image->width; x++) {
            const int64_t p = i * image->width + x;
            for (int64_t c = 0; c < colours; c++)
                image->pixels[p * colours + c] = number_at(line, x * stride + c, depth);
            if (image->alpha)
                image->alpha[p] = number_at(line, x * stride + colours, depth);
        }
    }
}

/* The sizes are known and no pixel is read yet. A stream of deflate grows at most 1032-fold: a file
 * that announces more is cut or a bomb, and gets no memory. */
static mgv_status make_room(job *j)
{
    enum { MOST_GROWTH = 1032 };
    const int64_t height = png_get_image_height(j->png, j->info),
                  width = png_get_image_width(j->png, j->info);
    const int depth = png_get_bit_depth(j->png, j->info),
              stored = png_get_channels(j->png, j->info);
    const bool alpha = png_get_color_type(j->png, j->info) & PNG_COLOR_MASK_ALPHA;
    j->row_bytes = png_get_rowbytes(j->png, j->info);
    if ((size_t)height * (size_t)width / 8 > MOST_GROWTH * j->size) /* 1 bit a pixel at least */
        return MGVI_FAIL(j->ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " x %" PRId64 " pixels are announced, but the file has %zu "
                         "bytes",
                         j->path, height, width, j->size);
    MGVI_TRY(mgvi_image_new(j->ctx, j->path, height, width, stored - alpha, alpha, &j->image));
    j->image->depth = depth;
    j->rows = mgvi_alloc(j->ctx, (size_t)height, j->row_bytes);
    return j->rows ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status read_all(job *j)
{
    if (!read_header(j))
        return complain(j);
    MGVI_TRY(make_room(j));
    if (!read_rows(j))
        return complain(j);
    take_pixels(j, j->image->depth);
    return MGV_OK;
}

static mgv_status read_png(mgv_ctx *ctx, const mgvi_source *source, mgv_image **out)
{
    job j = {.ctx = ctx, .path = source->path, .bytes = source->bytes, .size = source->size};
    mgv_status st = MGV_E_MEMORY;
    j.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &j, on_error, on_warning, &j, on_alloc,
                                     on_free);
    if (j.png)
        j.info = png_create_info_struct(j.png);
    if (j.info)
        st = read_all(&j);
    if (j.png)
        png_destroy_read_struct(&j.png, &j.info, NULL);
    mgvi_release(ctx, j.rows);
    if (st == MGV_OK)
        *out = j.image;
    else
        mgvi_image_free(ctx, j.image);
    return st;
}

static bool is_png(const char *bytes, size_t size)
{
    return size >= 8 && png_sig_cmp((png_const_bytep)bytes, 0, 8) == 0;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void put_number(unsigned char *line, int64_t index, double x, int depth)
{
    const unsigned level = mgvi_image_level(x, depth);
    if (depth == 8) {
        line[index] = (unsigned char)level;
    } else { /* PNG is big-endian */
        line[2 * index] = (unsigned char)(level >> 8);
        line[2 * index + 1] = (unsigned char)(level & 255);
    }
}

static void fill_line(const mgv_image *image, int64_t i, int depth, unsigned char *line)
{
    const int64_t colours = image->channels, stride = colours + (image->alpha != NULL);
    for (int64_t x = 0; x < image->width; x++) {
        const int64_t p = i * image->width + x;
        for (int64_t c = 0; c < colours; c++)
            put_number(line, x * stride + c, image->pixels[p * colours + c], depth);
        if (image->alpha)
            put_number(line, x * stride + colours, image->alpha[p], depth);
    }
}

static bool write_all(job *j, const mgv_image *image, int depth)
{
    const int type = (image->channels == 3 ? PNG_COLOR_MASK_COLOR : 0) |
                     (image->alpha ? PNG_COLOR_MASK_ALPHA : 0);
    if (setjmp(png_jmpbuf(j->png)))
        return false;
    png_set_write_fn(j->png, j, on_write, on_flush);
    png_set_compression_level(j->png, 6);
    png_set_IHDR(j->png, j->info, (png_uint_32)image->width, (png_uint_32)image->height, depth,
                 type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(j->png, j->info);
    for (int64_t i = 0; i < image->height; i++) {
        fill_line(image, i, depth, j->rows);
        png_write_row(j->png, j->rows);
    }
    png_write_end(j->png, NULL);
    return true;
}

static mgv_status write_png(mgv_ctx *ctx, const mgv_image *image, int depth, const char *path,
                            mgvi_sink *sink)
{
    job j = {.ctx = ctx, .path = path, .sink = sink};
    mgv_status st = MGV_E_MEMORY;
    if (image->channels != 1 && image->channels != 3)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%s: PNG holds 1 or 3 channels of colour, this image has %" PRId32, path,
                         image->channels);
    const size_t numbers = (size_t)image->channels + (image->alpha != NULL);
    j.rows = mgvi_alloc(ctx, (size_t)image->width * numbers, (size_t)depth / 8);
    if (j.rows)
        j.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &j, on_error, on_warning, &j,
                                          on_alloc, on_free);
    if (j.png)
        j.info = png_create_info_struct(j.png);
    if (j.info)
        st =
            write_all(&j, image, depth)
                ? MGV_OK
                : (j.no_memory ? MGV_E_MEMORY
                               : MGVI_FAIL(ctx, MGV_E_INTERNAL, "%s: libpng: %s", path, j.message));
    if (j.png)
        png_destroy_write_struct(&j.png, &j.info);
    mgvi_release(ctx, j.rows);
    return st;
}

extern const mgvi_image_format mgvi_image_png;
const mgvi_image_format mgvi_image_png = {
    .name = "png", .extensions = ".png", .probe = is_png, .read = read_png, .write = write_png};
