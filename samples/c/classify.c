/* SPDX-License-Identifier: Apache-2.0 */
/* Names what is in a picture, by the C interface alone:
 *
 *   classify MODEL PICTURE [LABELS]
 *
 * MODEL is a .tflite, .onnx or .tenon classifier whose one input is a picture: [1, height, width, 1 or 3 channels], or
 * [1, 1 or 3 channels, height, width], as most ONNX models have it. The picture is brought to that size, its pixels to
 * 0..1, quantized if the model is. Prints the three classes with the highest scores. C99. */
#include <tenon/c/tenon.h>

#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the error, if there is one. Returns whether all went well. */
static int ok(tenon_status status, tenon_error** error)
{
    if (status != TENON_OK)
    {
        fprintf(stderr, "classify: %s (%s)\n", *error != NULL ? tenon_error_text(*error) : "no memory for the reason",
                tenon_status_name(status));
    }
    tenon_error_destroy(*error);
    *error = NULL;
    return status == TENON_OK;
}

/* real = scale * (stored - zero point) */
static float scale_of(const tenon_tensor_info* info)
{
    return info->num_scales != 0 ? info->scales[0] : 1.0f;
}

static int32_t zero_point_of(const tenon_tensor_info* info)
{
    return info->num_zero_points != 0 ? info->zero_points[0] : 0;
}

static int is_channels(int64_t size)
{
    return size == 1 || size == 3;
}

/* The model's input from a picture; null where there is none. The caller frees it. */
static void* read_picture(const char* path, const tenon_tensor_info* info)
{
    const int is_float = info->type == TENON_FLOAT32;
    const int is_byte = info->type == TENON_QASYMM_S8 || info->type == TENON_QASYMM_U8;
    if (info->rank != 4 || info->num_bytes == 0 || info->dims[0] != 1 ||
        (!is_channels(info->dims[3]) && !is_channels(info->dims[1])) || (!is_float && !is_byte))
    {
        fprintf(stderr, "classify: the model's input is no picture of bytes or floats\n");
        return NULL;
    }
    const int channels_first = !is_channels(info->dims[3]);
    const int channels = (int)info->dims[channels_first ? 1 : 3];
    const int height = (int)info->dims[channels_first ? 2 : 1];
    const int width = (int)info->dims[channels_first ? 3 : 2];
    int picture_width = 0;
    int picture_height = 0;
    stbi_uc* pixels = stbi_load(path, &picture_width, &picture_height, NULL, channels);
    unsigned char* input = malloc(info->num_bytes);
    if (pixels == NULL || input == NULL)
    {
        fprintf(stderr, "classify: cannot read the picture '%s': %s\n", path,
                pixels == NULL ? stbi_failure_reason() : "no memory");
        stbi_image_free(pixels);
        free(input);
        return NULL;
    }
    const float scale = scale_of(info);
    const int32_t zero_point = zero_point_of(info);
    const int lowest = info->type == TENON_QASYMM_S8 ? -128 : 0;
    size_t pixel = 0;
    for (int y = 0; y < height; ++y)
    {
        for (int x = 0; x < width; ++x, ++pixel)
        {
            const size_t row = (size_t)y * (size_t)picture_height / (size_t)height;
            const size_t column = (size_t)x * (size_t)picture_width / (size_t)width;
            for (int c = 0; c < channels; ++c)
            {
                const size_t i = channels_first ? (size_t)c * (size_t)height * (size_t)width + pixel
                                                : pixel * (size_t)channels + (size_t)c;
                const float value =
                    (float)pixels[(row * (size_t)picture_width + column) * (size_t)channels + (size_t)c] / 255.0f;
                if (is_float)
                {
                    memcpy(input + i * sizeof(float), &value, sizeof(value));
                }
                else
                {
                    const float stored = roundf(value / scale) + (float)zero_point;
                    input[i] = (unsigned char)(int)fminf(fmaxf(stored, (float)lowest), (float)(lowest + 255));
                }
            }
        }
    }
    stbi_image_free(pixels);
    return input;
}

/* The score of class i. */
static float score_of(const tenon_tensor_info* info, const void* scores, size_t i)
{
    switch (info->type)
    {
    case TENON_FLOAT32: return ((const float*)scores)[i];
    case TENON_QASYMM_S8: return scale_of(info) * (float)(((const int8_t*)scores)[i] - zero_point_of(info));
    case TENON_QASYMM_U8: return scale_of(info) * (float)(((const uint8_t*)scores)[i] - zero_point_of(info));
    default: return 0.0f;
    }
}

/* Line i of a file, without its end; the number where there is no such line. */
static const char* label_of(const char* path, size_t i, char* text, size_t capacity)
{
    FILE* file = path != NULL ? fopen(path, "r") : NULL;
    int is_there = file != NULL;
    for (size_t line = 0; is_there && line <= i; ++line)
    {
        is_there = fgets(text, (int)capacity, file) != NULL;
    }
    if (file != NULL)
    {
        fclose(file);
    }
    if (!is_there)
    {
        snprintf(text, capacity, "class %zu", i);
    }
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static int print_best(const tenon_tensor_info* info, const void* scores, const char* labels)
{
    const size_t element = info->type == TENON_FLOAT32 ? sizeof(float) : 1;
    const size_t classes = info->num_bytes / element;
    size_t taken[3] = {0};
    for (size_t place = 0; place < 3 && place < classes; ++place)
    {
        size_t best = classes;
        for (size_t i = 0; i < classes; ++i)
        {
            const int is_taken = (place > 0 && taken[0] == i) || (place > 1 && taken[1] == i);
            if (!is_taken && (best == classes || score_of(info, scores, i) > score_of(info, scores, best)))
            {
                best = i;
            }
        }
        char text[256];
        taken[place] = best;
        printf("%s: %.4f\n", label_of(labels, best, text, sizeof(text)), (double)score_of(info, scores, best));
    }
    return 0;
}

static int classify(tenon_model* model, const char* picture, const char* labels)
{
    const tenon_tensor_info* input_info = NULL;
    const tenon_tensor_info* output_info = NULL;
    tenon_error* error = NULL;
    if (tenon_model_num_inputs(model) != 1 || tenon_model_num_outputs(model) != 1)
    {
        fprintf(stderr, "classify: the model has more than one input or output\n");
        return 1;
    }
    if (!ok(tenon_model_input(model, 0, NULL, &input_info, &error), &error) ||
        !ok(tenon_model_output(model, 0, NULL, &output_info, &error), &error))
    {
        return 1;
    }
    if (output_info->num_bytes == 0)
    {
        fprintf(stderr, "classify: the size of the model's output is not known before it runs\n");
        return 1;
    }
    void* data = read_picture(picture, input_info);
    void* scores = malloc(output_info->num_bytes);
    int result = 1;
    if (data != NULL && scores != NULL)
    {
        const tenon_tensor input = {data, input_info->num_bytes, TENON_ANY_TYPE, 0, NULL, 0, {0}};
        const tenon_tensor output = {scores, output_info->num_bytes, TENON_ANY_TYPE, 0, NULL, 0, {0}};
        if (ok(tenon_model_run(model, NULL, 1, &input, 1, &output, &error), &error))
        {
            result = print_best(output_info, scores, labels);
        }
    }
    free(scores);
    free(data);
    return result;
}

/* Reads a model; one that takes any number of pictures, as ONNX models often do, is read for one. */
static int read_network(tenon_runtime* runtime, const char* path, tenon_network** network)
{
    const char* name = NULL;
    const tenon_tensor_info* info = NULL;
    tenon_error* error = NULL;
    if (!ok(tenon_network_read_file(runtime, path, NULL, network, &error), &error))
    {
        return 0;
    }
    if (tenon_network_num_inputs(*network) != 1)
    {
        return 1; /* classify() refuses it */
    }
    if (!ok(tenon_network_input(*network, 0, &name, &info, &error), &error))
    {
        return 0;
    }
    if (info->rank != 4 || info->dims[0] != TENON_UNKNOWN_DIM)
    {
        return 1;
    }
    const int64_t dims[4] = {1, info->dims[1], info->dims[2], info->dims[3]};
    const tenon_input_shape shape = {name, 4, dims};
    tenon_read_options options = {0};
    options.struct_size = sizeof(options);
    options.num_input_shapes = 1;
    options.input_shapes = &shape;
    tenon_network* any = *network; /* has the name */
    *network = NULL;
    const int is_read = ok(tenon_network_read_file(runtime, path, &options, network, &error), &error);
    tenon_network_destroy(any);
    return is_read;
}

int main(int argc, char** argv)
{
    if (argc < 3 || argc > 4)
    {
        fprintf(stderr, "usage: classify MODEL PICTURE [LABELS]\n");
        return 2;
    }
    tenon_runtime* runtime = NULL;
    tenon_network* network = NULL;
    tenon_model* model = NULL;
    tenon_error* error = NULL;
    int result = 1;
    if (ok(tenon_runtime_create(NULL, &runtime, &error), &error) && read_network(runtime, argv[1], &network) &&
        ok(tenon_model_load(runtime, network, NULL, &model, &error), &error))
    {
        result = classify(model, argv[2], argc > 3 ? argv[3] : NULL);
    }
    tenon_model_destroy(model);
    tenon_network_destroy(network);
    tenon_runtime_destroy(runtime);
    return result;
}
