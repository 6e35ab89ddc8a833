#include "ReceivedScans.h"

int scans_have_all_channels(const struct jpeg_decompress_struct *info) {
    for (int channel = 0; channel < info->num_components; channel++) {
        if (info->comp_info[channel].quant_table == NULL) return 0;
        if (info->coef_bits != NULL && info->coef_bits[channel][0] < 0) return 0;
    }
    return 1;
}

int scans_have_all_coefficients(const struct jpeg_decompress_struct *info) {
    if (!scans_have_all_channels(info)) return 0;
    for (int channel = 0; channel < info->num_components && info->coef_bits != NULL; channel++)
        for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++)
            if (info->coef_bits[channel][coefficient] != 0) return 0;
    return 1;
}

int scan_has_detail(const struct jpeg_decompress_struct *info) {
    if (info->progressive_mode && info->Ss == 0) return 0;
    for (int channel = 0; channel < info->comps_in_scan; channel++)
        if (info->cur_comp_info[channel]->component_index == 0) return 1;
    return 0;
}

JDIMENSION scan_complete_rows(const struct jpeg_decompress_struct *info) {
    if (info->input_iMCU_row >= info->total_iMCU_rows) return info->output_height;
    // Chroma is interpolated with the group of rows below.
    JDIMENSION height = (JDIMENSION)(info->max_v_samp_factor * info->min_DCT_scaled_size);
    JDIMENSION end = info->input_iMCU_row * height;
    JDIMENSION context = (JDIMENSION)info->max_v_samp_factor;
    end = end > context ? end - context : 0;
    return end < info->output_height ? end : info->output_height;
}
