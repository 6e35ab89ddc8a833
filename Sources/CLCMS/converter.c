#include "CLCMS.h"

#include <lcms2.h>
#include <lcms2_plugin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct clcms_converter {
    cmsContext context;
    cmsHPROFILE profile;
    cmsHTRANSFORM transform;
    size_t held_bytes;
};

// MARK: Memory

/// The header of each block: the converter that it is counted for.
typedef union block {
    struct {
        /// NULL for blocks of the context itself, which is created before the converter.
        clcms_converter *owner;
        size_t size;
    };
    max_align_t alignment;
} block;

static void *counted_malloc(cmsContext context, cmsUInt32Number size) {
    clcms_converter *owner = cmsGetContextUserData(context);
    size_t whole = sizeof(block) + size;
    if (owner != NULL && whole > CLCMS_MAXIMUM_BYTES - owner->held_bytes) return NULL;
    block *new_block = malloc(whole);
    if (new_block == NULL) return NULL;
    new_block->owner = owner;
    new_block->size = whole;
    if (owner != NULL) owner->held_bytes += whole;
    return new_block + 1;
}

static void counted_free(cmsContext context, void *bytes) {
    (void)context;
    if (bytes == NULL) return;
    block *old_block = (block *)bytes - 1;
    if (old_block->owner != NULL) old_block->owner->held_bytes -= old_block->size;
    free(old_block);
}

static void *counted_realloc(cmsContext context, void *bytes, cmsUInt32Number size) {
    void *moved = counted_malloc(context, size);
    if (moved == NULL || bytes == NULL) return moved;
    size_t old_size = ((block *)bytes - 1)->size - sizeof(block);
    memcpy(moved, bytes, old_size < size ? old_size : size);
    counted_free(context, bytes);
    return moved;
}

static cmsPluginMemHandler counting = {
    .base = {.Magic = cmsPluginMagicNumber, .ExpectedVersion = 2060, .Type = cmsPluginMemHandlerSig},
    .MallocPtr = counted_malloc,
    .FreePtr = counted_free,
    .ReallocPtr = counted_realloc,
};

// MARK: Life

static clcms_converter *create(void) {
    clcms_converter *converter = calloc(1, sizeof *converter);
    if (converter == NULL) return NULL;
    converter->context = cmsCreateContext(&counting, converter);
    if (converter->context != NULL) return converter;
    free(converter);
    return NULL;
}

/// Returns the converter or, if it has no profile, releases it and returns NULL.
static clcms_converter *finished(clcms_converter *converter) {
    if (converter->profile != NULL) return converter;
    clcms_free(converter);
    return NULL;
}

static uint32_t number_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Returns whether a profile has tags with multi-process elements, DToB or BToD; makes their signatures unknown ones in
/// `copy`, a copy of the profile, unless that is NULL.
static bool has_elements(const uint8_t *profile, size_t count, uint8_t *copy) {
    const size_t table = 132, entry_size = 12;
    if (count < table) return false;
    size_t tag_count = number_at(profile + 128), last = (count - table) / entry_size;
    bool found = false;
    for (size_t entry = 0; entry < tag_count && entry < last; entry++) {
        size_t signature = table + entry * entry_size;
        if (memcmp(profile + signature, "D2B", 3) != 0 && memcmp(profile + signature, "B2D", 3) != 0) continue;
        found = true;
        if (copy != NULL) copy[signature] |= 0x20;  // lowercase
    }
    return found;
}

/// Opens a profile without its tags with multi-process elements.
///
/// They are optional: a reader that does not support them uses the tables or the matrix (ICC.1, "DToB0Tag"). A few
/// kilobytes, compressed, can contain 100,000 elements, for which Little CMS takes minutes.
static cmsHPROFILE open_profile(cmsContext context, const uint8_t *profile, size_t count) {
    if (count == 0 || count > UINT32_MAX) return NULL;
    if (!has_elements(profile, count, NULL)) {
        return cmsOpenProfileFromMemTHR(context, profile, (cmsUInt32Number)count);
    }
    uint8_t *copy = malloc(count);
    if (copy == NULL) return NULL;
    memcpy(copy, profile, count);
    has_elements(profile, count, copy);
    cmsHPROFILE opened = cmsOpenProfileFromMemTHR(context, copy, (cmsUInt32Number)count);
    free(copy);
    return opened;
}

clcms_converter *clcms_read(const uint8_t *profile, size_t count) {
    clcms_converter *converter = create();
    if (converter == NULL) return NULL;
    converter->profile = open_profile(converter->context, profile, count);
    return finished(converter);
}

clcms_converter *clcms_describe(
    const clcms_primaries *space, const double numbers[5], const uint16_t *table, size_t count, const char *name) {
    clcms_converter *converter = create();
    if (converter == NULL) return NULL;
    cmsCIExyY white = {space->white.x, space->white.y, 1};
    cmsCIExyYTRIPLE primaries = {
        {space->red.x, space->red.y, 1}, {space->green.x, space->green.y, 1}, {space->blue.x, space->blue.y, 1},
    };
    // Little CMS's number 4: Y = (aX + b)^g from d on, below cX.
    cmsToneCurve *curve = numbers != NULL ? cmsBuildParametricToneCurve(converter->context, 4, numbers)
                                          : cmsBuildTabulatedToneCurve16(converter->context, (cmsUInt32Number)count, table);
    if (curve != NULL) {
        cmsToneCurve *curves[] = {curve, curve, curve};
        converter->profile = cmsCreateRGBProfileTHR(converter->context, &white, &primaries, curves);
        cmsFreeToneCurve(curve);
    }
    cmsMLU *description = cmsMLUalloc(converter->context, 1);
    if (converter->profile != NULL && description != NULL) {
        cmsMLUsetASCII(description, "en", "US", name);
        cmsWriteTag(converter->profile, cmsSigProfileDescriptionTag, description);
    }
    cmsMLUfree(description);
    return finished(converter);
}

void clcms_seal(clcms_converter *converter) {
    if (converter->profile != NULL) cmsCloseProfile(converter->profile);
    converter->profile = NULL;
}

void clcms_free(clcms_converter *converter) {
    if (converter == NULL) return;
    if (converter->transform != NULL) cmsDeleteTransform(converter->transform);
    clcms_seal(converter);
    cmsDeleteContext(converter->context);
    free(converter);
}

// MARK: Profile

clcms_pixels clcms_kind(const clcms_converter *converter) {
    switch (cmsGetDeviceClass(converter->profile)) {
    case cmsSigInputClass:
    case cmsSigDisplayClass:
    case cmsSigOutputClass:
    case cmsSigColorSpaceClass: break;
    default: return CLCMS_OTHER;
    }
    switch (cmsGetColorSpace(converter->profile)) {
    case cmsSigGrayData: return CLCMS_GRAY;
    case cmsSigRgbData: return CLCMS_RGB;
    case cmsSigCmykData: return CLCMS_INKS;
    default: return CLCMS_OTHER;
    }
}

size_t clcms_write_profile(const clcms_converter *converter, uint8_t *bytes, size_t capacity) {
    cmsUInt32Number count = capacity > UINT32_MAX ? UINT32_MAX : (cmsUInt32Number)capacity;
    return cmsSaveProfileToMem(converter->profile, bytes, &count) ? count : 0;
}

bool clcms_primaries_of(const clcms_converter *converter, float curves[3 * 256], float colors[3 * 3]) {
    static const cmsTagSignature curve_tags[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    static const cmsTagSignature color_tags[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
    // From the XYZ of profiles, with white point D50, to linear sRGB.
    static const double from_xyz[3][3] = {
        {3.13418636, -1.61720896, -0.49069406},
        {-0.97874850, 1.91613010, 0.03343340},
        {0.07196393, -0.22899387, 1.40575373},
    };
    cmsHPROFILE profile = converter->profile;
    if (clcms_kind(converter) != CLCMS_RGB || cmsGetPCS(profile) != cmsSigXYZData) return false;
    if (cmsIsTag(profile, cmsSigAToB0Tag)) return false;
    for (int light = 0; light < 3; light++) {
        const cmsToneCurve *curve = cmsReadTag(profile, curve_tags[light]);
        const cmsCIEXYZ *color = cmsReadTag(profile, color_tags[light]);
        if (curve == NULL || color == NULL) return false;
        for (int byte = 0; byte < 256; byte++) {
            float value = cmsEvalToneCurveFloat(curve, (float)byte / 255);
            curves[light * 256 + byte] = value >= 0 ? fminf(value, 1) : 0;  // also for NaN
        }
        for (int channel = 0; channel < 3; channel++) {
            const double *row = from_xyz[channel];
            colors[light * 3 + channel] = (float)(row[0] * color->X + row[1] * color->Y + row[2] * color->Z);
            if (!isfinite(colors[light * 3 + channel])) return false;
        }
    }
    return true;
}

// MARK: Conversion

bool clcms_prepare(clcms_converter *converter, int sample_bytes, bool tables) {
    static const cmsUInt32Number formats[] = {
        [CLCMS_GRAY] = COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1),
        [CLCMS_RGB] = COLORSPACE_SH(PT_RGB) | EXTRA_SH(1) | CHANNELS_SH(3),
        [CLCMS_INKS] = COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | FLAVOR_SH(1),
    };
    cmsUInt32Number samples = BYTES_SH((cmsUInt32Number)sample_bytes);
    clcms_pixels kind = clcms_kind(converter);
    if (kind == CLCMS_OTHER) return false;
    cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR(converter->context);
    if (srgb == NULL) return false;
    // Between two profiles of version 4, Little CMS maps the black point of one to the other, which perceptual tables
    // of that version require. Older profiles define their own black.
    if (cmsGetEncodedICCversion(converter->profile) < 0x04000000) cmsSetProfileVersion(srgb, 2.1);
    if (converter->transform != NULL) cmsDeleteTransform(converter->transform);
    converter->transform = cmsCreateTransformTHR(
        converter->context, converter->profile, formats[kind] | samples, srgb, formats[CLCMS_RGB] | samples,
        INTENT_PERCEPTUAL, tables ? 0 : cmsFLAGS_NOOPTIMIZE);
    cmsCloseProfile(srgb);
    return converter->transform != NULL;
}

void clcms_convert(const clcms_converter *converter, const uint8_t *from, uint8_t *to, size_t pixel_count) {
    cmsDoTransform(converter->transform, from, to, (cmsUInt32Number)pixel_count);
}

size_t clcms_held_bytes(const clcms_converter *converter) { return converter->held_bytes; }
