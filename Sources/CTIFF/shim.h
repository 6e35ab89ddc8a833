// libtiff reads and sets tags through variadic functions, and reports errors with a va_list: Swift can use neither.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#if TIFFLIB_VERSION < 20221213
#error "libtiff 4.5.0 or newer is needed"
#endif

/// A file in memory, and what libtiff has reported about it.
typedef struct {
    const uint8_t *bytes;
    toff_t count;
    toff_t position;
    /// The first error.
    char message[256];
    /// Whether compressed data have ended too early, if positive. libtiff reports this as a warning.
    int truncated;
} ctiff_file;

static tmsize_t ctiff_read(thandle_t handle, void *target, tmsize_t count) {
    ctiff_file *file = (ctiff_file *)handle;
    if (file->position >= file->count || count <= 0) return 0;
    toff_t rest = file->count - file->position;
    if ((toff_t)count > rest) count = (tmsize_t)rest;
    memcpy(target, file->bytes + file->position, (size_t)count);
    file->position += (toff_t)count;
    return count;
}

static tmsize_t ctiff_write(thandle_t handle, void *source, tmsize_t count) {
    (void)handle, (void)source, (void)count;
    return 0;
}

static toff_t ctiff_seek(thandle_t handle, toff_t offset, int origin) {
    ctiff_file *file = (ctiff_file *)handle;
    file->position = offset + (origin == SEEK_CUR ? file->position : origin == SEEK_END ? file->count : 0);
    return file->position;
}

static int ctiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t ctiff_size(thandle_t handle) { return ((ctiff_file *)handle)->count; }

/// Without this function, libtiff would copy each strip. It does not write to the memory of a file that it reads.
static int ctiff_map(thandle_t handle, void **base, toff_t *size) {
    ctiff_file *file = (ctiff_file *)handle;
    *base = (void *)file->bytes;
    *size = file->count;
    return 1;
}

static void ctiff_unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int ctiff_keep_error(TIFF *tiff, void *file, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)module;
    char *message = ((ctiff_file *)file)->message;
    if (!message[0]) vsnprintf(message, sizeof(((ctiff_file *)file)->message), format, arguments);
    // Otherwise, it would be printed as well.
    return 1;
}

/// Notices that libjpeg or the fax decoder invents the rest of a strip or tile, and ignores other warnings.
static int ctiff_note_warning(TIFF *tiff, void *file, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    char message[256];
    vsnprintf(message, sizeof(message), format, arguments);
    int is_jpeg = module && !strcmp(module, "JPEGLib") && strstr(message, "Premature end");
    int is_fax = module && !strncmp(module, "Fax", 3) && strstr(message, "Premature EOF");
    if (is_jpeg || is_fax) ((ctiff_file *)file)->truncated++;
    return 1;
}

/// Opens a file, which must exist for as long as the result; no single allocation exceeds `maximum_allocation`.
static inline TIFF *ctiff_open(ctiff_file *file, tmsize_t maximum_allocation) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, maximum_allocation);
    TIFFOpenOptionsSetErrorHandlerExtR(options, ctiff_keep_error, file);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ctiff_note_warning, file);
    // O: the tables of strips are read as they are needed. c: one strip is not split, which would need a table.
    TIFF *tiff = TIFFClientOpenExt(
        "", "rOc", (thandle_t)file, ctiff_read, ctiff_write, ctiff_seek, ctiff_close, ctiff_size, ctiff_map,
        ctiff_unmap, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/// Returns the first error, or an empty string.
static inline const char *ctiff_message(const ctiff_file *file) { return file->message; }

/// Returns a tag of 16 bits or its default value; `missing` if it has neither.
static inline uint16_t ctiff_get_16(TIFF *tiff, uint32_t tag, uint16_t missing) {
    uint16_t value = missing;
    return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : missing;
}

/// Forgets what has been reported about the tags, before pixels are read.
static inline void ctiff_forget_reports(ctiff_file *file, TIFF *tiff) {
    uint32_t count = 0;
    uint8_t *tables = NULL;
    file->message[0] = 0;
    file->truncated = 0;
    // Tables without an end are harmless, and reported once.
    if (ctiff_get_16(tiff, TIFFTAG_COMPRESSION, 1) == COMPRESSION_JPEG
        && TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &count, &tables) && tables && count >= 2
        && !(tables[count - 2] == 0xFF && tables[count - 1] == 0xD9))
        file->truncated = -1;
}

/// Returns a tag of 32 bits or its default value; `missing` if it has neither.
static inline uint32_t ctiff_get_32(TIFF *tiff, uint32_t tag, uint32_t missing) {
    uint32_t value = missing;
    return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : missing;
}

/// Returns the kind of the first sample after the colors; `missing` if there is none.
static inline uint16_t ctiff_get_extra_sample(TIFF *tiff, uint16_t missing) {
    uint16_t count = 0;
    uint16_t *kinds = NULL;
    return TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count > 0 && kinds ? kinds[0] : missing;
}

/// Returns the color profile, of `count` bytes; NULL if there is none.
static inline const uint8_t *ctiff_get_profile(TIFF *tiff, uint32_t *count) {
    void *profile = NULL;
    return TIFFGetField(tiff, TIFFTAG_ICCPROFILE, count, &profile) ? (const uint8_t *)profile : NULL;
}

/// Returns one of the three columns of the color map, with two to the power of the number of bits entries; NULL if there
/// is no map.
static inline const uint16_t *ctiff_get_color_map(TIFF *tiff, int column) {
    uint16_t *columns[3] = {NULL, NULL, NULL};
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &columns[0], &columns[1], &columns[2])) return NULL;
    return columns[column];
}

/// Makes libjpeg convert the colors of a JPEG to RGB.
static inline int ctiff_convert_to_rgb(TIFF *tiff) {
    return TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}
