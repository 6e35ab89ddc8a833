// Renders an SVG image from standard input, in a process of its own, whose memory and time are limited.
//
// Without arguments, writes the size of the image to standard output; with a width and a height, the image of this size,
// too. The output begins with a byte: 0, or the number of an error. Then follow the width and the height, and the same in a
// unit so small that their ratio is exact, 32 bits each in the order of this machine, and the rows of red, green, blue, and
// straight alpha.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef SVG
#include "rsvg.h"
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

enum status { OK, INVALID, NO_SIZE, TOO_LARGE };

// The most that the process can do, in seconds, and beside the pixels, in bytes.
enum { MAXIMUM_SECONDS = 10 };
static const size_t base_memory = (size_t)96 << 20;
// For each pixel: the image, and layers of groups and filters.
static const size_t memory_per_pixel = 64;
static const size_t maximum_input = (size_t)64 << 20;
static const double maximum_side = 32767; // of cairo
// A declared size is a proposal, which is reduced so that the image can be rendered, in pixels.
static const double maximum_proposed_area = 256e6;

static int fail(enum status status) {
    putchar(status);
    fflush(stdout);
    return 0;
}

static void limit(int resource, size_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) abort();
    if (value < limit.rlim_max) limit.rlim_max = value;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(resource, &limit) != 0) abort();
}

static uint8_t *read_input(size_t *length) {
    size_t capacity = 64 << 10;
    uint8_t *bytes = malloc(capacity);
    *length = 0;
    size_t count;
    while (bytes && (count = fread(bytes + *length, 1, capacity - *length, stdin)) > 0) {
        *length += count;
        if (*length > maximum_input) return NULL;
        if (*length == capacity) bytes = realloc(bytes, capacity *= 2);
    }
    return bytes;
}

// The length in pixels; 0 if it depends on the surroundings.
static double pixels(RsvgLength length) {
    // Percent, pixels, em, ex, inches, centimeters, millimeters, points, and picas.
    static const double units[] = {0, 1, 0, 0, 96, 96 / 2.54, 96 / 25.4, 96 / 72.0, 16};
    return length.unit >= 0 && length.unit < 9 ? length.length * units[length.unit] : 0;
}

// The size in pixels: the declared one, completed by the ratio of the coordinates or the default of CSS.
static void find_size(RsvgHandle *handle, double *width, double *height) {
    if (rsvg_handle_get_intrinsic_size_in_pixels(handle, width, height)) return;
    int has_width, has_height, has_box;
    RsvgLength declared_width, declared_height;
    RsvgRectangle box;
    rsvg_handle_get_intrinsic_dimensions(
        handle, &has_width, &declared_width, &has_height, &declared_height, &has_box, &box);
    double w = has_width ? pixels(declared_width) : 0, h = has_height ? pixels(declared_height) : 0;
    has_box = has_box && box.width > 0 && box.height > 0;
    *width = w > 0 ? w : !has_box ? 300 : h > 0 ? h * box.width / box.height : box.width;
    *height = h > 0 ? h : !has_box ? 150 : w > 0 ? w * box.height / box.width : box.height;
}

static int write_size(double width, double height, double reduction) {
    if (!(width > 0 && height > 0)) return NO_SIZE;
    double longer = fmax(width, height), scale = 1 << 24;
    if (!isfinite(longer)) return TOO_LARGE;
    uint32_t sizes[] = {
        fmin(maximum_side, ceil(width * reduction)), fmin(maximum_side, ceil(height * reduction)),
        fmax(1, round(width / longer * scale)), fmax(1, round(height / longer * scale))};
    putchar(OK);
    fwrite(sizes, sizeof sizes, 1, stdout);
    return OK;
}

static void write_row(const uint32_t *row, int width) {
    for (int x = 0; x < width; x++) {
        unsigned alpha = row[x] >> 24;
        uint8_t pixel[4] = {0, 0, 0, alpha};
        for (int channel = 0; channel < 3 && alpha; channel++) {
            unsigned value = row[x] >> (16 - 8 * channel) & 255;
            pixel[channel] = (value * 255 + alpha / 2) / alpha;
        }
        fwrite(pixel, sizeof pixel, 1, stdout);
    }
}

static int render(RsvgHandle *handle, int width, int height) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *context = cairo_create(surface);
    double natural_width, natural_height;
    find_size(handle, &natural_width, &natural_height);
    if (!(natural_width > 0 && natural_height > 0)) return NO_SIZE;
    // The image fills the pixels, whose ratio is rounded.
    cairo_scale(context, width / natural_width, height / natural_height);
    RsvgRectangle area = {0, 0, natural_width, natural_height};
    if (!rsvg_handle_render_document(handle, context, &area, NULL)) return INVALID;
    cairo_surface_flush(surface);
    if (cairo_status(context) != CAIRO_STATUS_SUCCESS) return INVALID;
    int status = write_size(width, height, 1);
    const uint8_t *pixels = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; status == OK && y < height; y++) write_row((const uint32_t *)(pixels + (size_t)y * stride), width);
    return status;
}

int main(int count, char **arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Open files of the caller.
    for (int file = 3; file < 1024; file++) close(file);
    int width = count == 3 ? atoi(arguments[1]) : 0;
    int height = count == 3 ? atoi(arguments[2]) : 0;
    if (width < 0 || height < 0 || width > maximum_side || height > maximum_side) return fail(TOO_LARGE);
#ifndef SANITIZED // which reserves much more
    limit(RLIMIT_DATA, base_memory + memory_per_pixel * width * height);
#endif
    limit(RLIMIT_CPU, MAXIMUM_SECONDS);
    limit(RLIMIT_CORE, 0);
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 0);
    setenv("RAYON_NUM_THREADS", "1", 1); // of librsvg's filters

    size_t length;
    uint8_t *bytes = read_input(&length);
    if (!bytes) return fail(TOO_LARGE);
    // Without a base URL, librsvg reads neither files nor anything from the network.
    RsvgHandle *handle = rsvg_handle_new_from_data(bytes, length, NULL);
    if (!handle) return fail(INVALID);
    rsvg_handle_set_dpi(handle, 96); // as in CSS
    int status;
    if (width > 0 && height > 0) {
        status = render(handle, width, height);
    } else {
        double natural_width, natural_height;
        find_size(handle, &natural_width, &natural_height);
        double side = maximum_side / fmax(natural_width, natural_height);
        double area = sqrt(maximum_proposed_area / natural_width / natural_height);
        status = write_size(natural_width, natural_height, fmin(1, fmin(side, area)));
    }
    if (status != OK) return fail(status);
    fflush(stdout);
    // Without the cleanup of the libraries.
    _exit(0);
}
#else
int main(void) {
    fputs("webimage-svg was built without SVG\n", stderr);
    return 1;
}
#endif
