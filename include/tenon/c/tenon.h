/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of Tenon: runtimes, networks, loaded models and their runs. C99, and C++ from C++11 on. libtenon.so
 * has all functions. It shares status codes, element types, tensor infos, attributes and layers with the table of
 * plugins, which is included for them.
 *
 * Errors. A function that can fail returns a tenon_status, TENON_OK being 0, and has `error` as its last parameter.
 * Where `error` is not null, *error becomes an object with status and text if the function fails, and null if it does
 * not; the caller destroys it. It stays null, too, where there is no memory for the object. A function that fails makes
 * nothing, and sets the handles that it would give to null. No exception crosses this interface, in either direction.
 *
 * Handles. tenon_<name>_create, _read and _load make one, tenon_<name>_destroy takes it back; null is no error there. A
 * handle keeps alive all that it is made of: a runtime may be destroyed before its models, a model before its sessions.
 * Passing null for another handle, or one that was destroyed, is a mistake: null is refused, the other is undefined.
 *
 * Structs that begin with struct_size may grow at their end in later versions; a new member begins at the old sizeof,
 * or takes the place of a reserved one. The caller sets struct_size to sizeof(the struct); 0 in a member is its
 * default. A library that is older than the program refuses a struct with a member that it does not know, unless that
 * is 0. In structs that Tenon passes out, a member that is newer than TENON_C_MINOR 0 is there only if it lies within
 * their struct_size. Structs without struct_size, numbers of enumerations and functions never change within one
 * TENON_C_MAJOR, which rises with TENON_PLUGIN_MAJOR.
 *
 * Threads. Functions of a tenon_runtime, tenon_model, tenon_session and tenon_cancellation, and those of the log, may
 * be called from any thread, and from several at once. A tenon_network and a tenon_error are used by one thread at a
 * time. A handle is destroyed after all other uses of it have returned. A process that was forked uses no handle that
 * was made before.
 *
 * Strings, and paths on every system, are UTF-8 and end with 0. Texts that are passed in are copied. Pointers that a
 * function gives point into the handle that it was asked of and live as long as it, unless the function says otherwise.
 */
#ifndef TENON_C_TENON_H
#define TENON_C_TENON_H

#include <tenon/backend/plugin.h>

#if defined(__cplusplus)
#define TENON_EXTERN_C extern "C"
#else
#define TENON_EXTERN_C
#endif
#if defined(TENON_STATIC)
#define TENON_C_API TENON_EXTERN_C
#elif defined(_WIN32) && defined(TENON_BUILDING)
#define TENON_C_API TENON_EXTERN_C __declspec(dllexport)
#elif defined(_WIN32)
#define TENON_C_API TENON_EXTERN_C __declspec(dllimport)
#else
#define TENON_C_API TENON_EXTERN_C __attribute__((visibility("default")))
#endif

/* ---- Handles, version of the interface ---- */

/* Rises when something is changed or removed. */
#define TENON_C_MAJOR 1u
/* Rises when something is added. */
#define TENON_C_MINOR 2u

typedef struct tenon_error tenon_error;               /* why a call failed */
typedef struct tenon_runtime tenon_runtime;           /* backends and threads that models share */
typedef struct tenon_network tenon_network;           /* a graph: read from a file or built, maybe optimized */
typedef struct tenon_model tenon_model;               /* a network that is loaded into a runtime */
typedef struct tenon_session tenon_session;           /* states of a model from run to run */
typedef struct tenon_cancellation tenon_cancellation; /* ends runs early */

/* ---- Version, errors, texts ---- */

/* The version of the library, "major.minor.patch". Never fails. */
TENON_C_API const char* TENON_CALL tenon_version(void);
/* TENON_C_MAJOR and TENON_C_MINOR of the library. One of the same major and of no lower minor version than the
 * program was compiled with has all that the program knows. */
TENON_C_API void TENON_CALL tenon_c_version(uint32_t* major, uint32_t* minor);

/* The status that the failed call returned. TENON_OK for null. */
TENON_C_API tenon_status TENON_CALL tenon_error_status(const tenon_error* error);
/* The failure, its place and its reason, in a sentence. It lives as long as the error. An empty text for null. */
TENON_C_API const char* TENON_CALL tenon_error_text(const tenon_error* error);
/* Takes back an error that a call gave. */
TENON_C_API void TENON_CALL tenon_error_destroy(tenon_error* error);
/* "TENON_INVALID_ARGUMENT" and the like; "unknown" for a number that is none. */
TENON_C_API const char* TENON_CALL tenon_status_name(tenon_status status);

/* Takes back a text that a function made for the caller. */
TENON_C_API void TENON_CALL tenon_text_destroy(char* text);
/* Takes back memory that a function made for the caller. */
TENON_C_API void TENON_CALL tenon_memory_destroy(void* memory);

/* ---- Log ---- */

/* Gets each message that passes the filter, from any thread, one at a time. Must not call into Tenon. */
typedef void(TENON_CALL* tenon_log_function)(void* self, tenon_severity severity, const char* text);
/* Sends the library's messages to `function` in place of standard error; null sends them there again. Returns once
 * no other thread is inside of the function that was set before. For the whole process. */
TENON_C_API tenon_status TENON_CALL tenon_log_set_function(tenon_log_function function, void* self,
                                                           tenon_error** error);
/* Drops messages below `lowest`. The default is TENON_WARNING. For the whole process. */
TENON_C_API tenon_status TENON_CALL tenon_log_set_severity(tenon_severity lowest, tenon_error** error);

/* ---- Options ---- */

/* A named option. A backend finds a value that reads as "true", "false" or a number as that, or as a text, whichever it
 * asks for. A plugin in C is told a type: a text needs double quotes there ("\"12\"") if it reads as something else.
 * The last of several options with one key counts. */
typedef struct tenon_option
{
    const char* key;   /* its name; functions that take options list their names */
    const char* value; /* its value as a text */
} tenon_option;

/* Bounds on what a model may ask for, checked before anything is allocated. 0 in a member is its default; raise a limit
 * where a trusted model needs more. */
typedef struct tenon_limits
{
    size_t struct_size;
    uint64_t max_tensor_bytes;    /* of one tensor; 4 GiB */
    uint64_t max_total_bytes;     /* of all tensors of a model together, as the memory plan adds them up; 16 GiB */
    uint64_t max_layers;          /* of a network, nested ones included; 1,000,000 */
    uint64_t max_file_bytes;      /* of a model file; 2 GiB */
    uint64_t max_loop_iterations; /* of all While layers in one run together; 10,000,000 */
    uint32_t max_rank;            /* of a tensor; 8, which is the most */
    uint32_t max_nesting;         /* of nested graphs and of nested options; 32 */
} tenon_limits;

/* ---- Runtime ---- */

/* The parts of a runtime besides the built-in backends. */
typedef struct tenon_runtime_options
{
    size_t struct_size;
    const char* plugins; /* a folder with dynamic backends (*_backend.so), or one such file; null: none */
    size_t num_options;
    const tenon_option* options; /* options of backends at their creation; a key is "<backend>.<option>" */
    const tenon_limits* limits;  /* of optimizing, loading and running; null: the defaults */
} tenon_runtime_options;

/* Makes a runtime with the built-in backends, CpuAcc and CpuRef, and plugins. One thread pool serves all its models.
 * `options` may be null. A plugin that cannot be loaded is no error: tenon_runtime_report has the reason.
 * - TENON_NOT_FOUND: there is no `plugins`
 * - TENON_INVALID_ARGUMENT: it cannot be read; two backends have one id; the environment variable TENON_FORCE_ISA names
 *   no instruction set */
TENON_C_API tenon_status TENON_CALL tenon_runtime_create(const tenon_runtime_options* options, tenon_runtime** runtime,
                                                         tenon_error** error);
/* Takes back a runtime. Networks and models that were made with it may live on. */
TENON_C_API void TENON_CALL tenon_runtime_destroy(tenon_runtime* runtime);
/* The parts of the runtime as JSON: {"version", "backends": [ids], "plugins": [{"path", "is_loaded", "backend",
 * "reason"}]}. The caller destroys the text. */
TENON_C_API tenon_status TENON_CALL tenon_runtime_report(const tenon_runtime* runtime, char** json,
                                                         tenon_error** error);

/* ---- Networks ---- */

/* The shape that an input is to have. */
typedef struct tenon_input_shape
{
    const char* input;   /* its name */
    uint32_t rank;       /* number of sizes; at most 8 */
    const int64_t* dims; /* the sizes */
} tenon_input_shape;

typedef struct tenon_operator tenon_operator;

/* A size for dimensions that an .onnx model leaves open. */
typedef struct tenon_dimension
{
    const char* name; /* as the model has it (dim_param); a dimension without a name goes by "<input>.<its number>" */
    uint32_t size;    /* that all dimensions of this name get */
} tenon_dimension;

/* Bytes in place of a file that an .onnx model keeps weights in. */
typedef struct tenon_external_data
{
    const char* location; /* as the model has it */
    const void* data; /* used where it is; it must stay until the network and all that is made of it are destroyed */
    size_t num_bytes; /* of data */
} tenon_external_data;

/* The part of a model file that becomes the network, and the way in which it is read. */
typedef struct tenon_read_options
{
    size_t struct_size;
    const char* signature; /* of a .tflite model: the signature that becomes the network; null: the subgraph does */
    uint32_t subgraph;     /* of a .tflite model, without a signature */
    uint8_t in_place;      /* tenon_network_read_memory: 1: the bytes of a .tflite or .onnx model are used where they
                              are, and must stay until the network and all that is made of it are destroyed; 0, and
                              other formats: they are copied */
    size_t num_input_shapes;
    const tenon_input_shape* input_shapes; /* of a .tflite or .onnx model, in place of those of the file */
    size_t num_operators;
    const tenon_operator* const* operators; /* custom operators that the model may have */
    const tenon_limits* limits;             /* of the file; null: the defaults */
    /* Since TENON_C_MINOR 1. */
    size_t num_dimensions;
    const tenon_dimension* dimensions; /* of an .onnx model */
    const char* external_data_folder;  /* of an .onnx model in memory: where its files of external data are; null:
                                          they are not read. A model in a file has its own folder */
    size_t num_external_data;
    const tenon_external_data* external_data; /* of an .onnx model, before files are looked for */
    /* Since TENON_C_MINOR 2. */
    const char* entry; /* of a .task or .litertlm file that holds several models: the one that becomes the network, by
                          name; null: the only one */
} tenon_read_options;

/* Reads a model: .tflite, also in a .task or .litertlm file, .onnx, .armnn as Arm NN writes it, or .tenon as
 * tenon_network_save does. The format follows from the content. A file is mapped and used in place: it may be
 * replaced, but not written to, as long as something made of it lives. `runtime` tells which backends an optimized
 * .tenon file may name. `options` may be null. A network that was read takes no further layers.
 * - TENON_NOT_FOUND: there is no such file, or it cannot be opened
 * - TENON_INVALID_DATA: of no known format, corrupt, or contradictory, with the place
 * - TENON_INVALID_ARGUMENT: an entry, signature, subgraph, input or dimension that the model does not have; no entry
 *   where there are several; something else of the options that is for models of another format
 * - TENON_UNSUPPORTED: an operator of the application that the options do not have; operators of an .onnx model that no
 *   layer computes, all of them with the reason
 * - TENON_BACKEND_UNAVAILABLE: an optimized network is for a backend that the runtime does not have */
TENON_C_API tenon_status TENON_CALL tenon_network_read_file(tenon_runtime* runtime, const char* path,
                                                            const tenon_read_options* options, tenon_network** network,
                                                            tenon_error** error);
/* The same as tenon_network_read_file, for the bytes of a file. They are copied, unless tenon_read_options::in_place
 * says otherwise. Fails as tenon_network_read_file does, but for TENON_NOT_FOUND. */
TENON_C_API tenon_status TENON_CALL tenon_network_read_memory(tenon_runtime* runtime, const void* data,
                                                              size_t num_bytes, const tenon_read_options* options,
                                                              tenon_network** network, tenon_error** error);
/* Takes back a network. A model that was made of it keeps what it needs. */
TENON_C_API void TENON_CALL tenon_network_destroy(tenon_network* network);

/* The number of inputs. Their order is that of the model, or of the calls that added them. A tensor that a .tflite
 * model lists twice, or that has two names in its signature, is two of them, of which the last one's value counts. 0
 * for null. */
TENON_C_API size_t TENON_CALL tenon_network_num_inputs(const tenon_network* network);
/* The number of outputs, ordered as inputs are. A tensor that a .tflite model lists twice, or that has two names in
 * its signature, is two of them, of the same values. 0 for null. */
TENON_C_API size_t TENON_CALL tenon_network_num_outputs(const tenon_network* network);
/* Name and info of an input; each of the two pointers may be null.
 * - TENON_INVALID_ARGUMENT: there is no input `index` */
TENON_C_API tenon_status TENON_CALL tenon_network_input(const tenon_network* network, size_t index, const char** name,
                                                        const tenon_tensor_info** info, tenon_error** error);
/* As tenon_network_input, for an output. Its sizes are unknown where they depend on values. For an output of a network
 * that is built by hand nothing is known but its declaration: tenon_model_output tells more. */
TENON_C_API tenon_status TENON_CALL tenon_network_output(const tenon_network* network, size_t index, const char** name,
                                                         const tenon_tensor_info** info, tenon_error** error);
/* How many signatures the .tflite model has that the network is of; other networks have none. 0 for null. */
TENON_C_API size_t TENON_CALL tenon_network_num_signatures(const tenon_network* network);
/* The name of a signature, for tenon_read_options::signature.
 * - TENON_INVALID_ARGUMENT: there is no signature `index` */
TENON_C_API tenon_status TENON_CALL tenon_network_signature(const tenon_network* network, size_t index,
                                                            const char** name, tenon_error** error);
/* How many texts the model has about itself that the network is of: an .onnx model by keys that its exporter chose
 * (metadata_props: names of classes, sizes and the like), a .tflite model "author", "description", "license", "name"
 * and "version" of TFLite's metadata, as far as it has them (since TENON_C_MINOR 2). Other networks have none. 0 for
 * null. Since TENON_C_MINOR 1. */
TENON_C_API size_t TENON_CALL tenon_network_num_metadata(const tenon_network* network);
/* Key and text of one of them, in the order of keys; each of the two pointers may be null. Since TENON_C_MINOR 1.
 * - TENON_INVALID_ARGUMENT: there is no text `index` */
TENON_C_API tenon_status TENON_CALL tenon_network_metadata(const tenon_network* network, size_t index, const char** key,
                                                           const char** text, tenon_error** error);
/* The metadata of an input or output of a .tflite model, by TFLite's schema of them. Texts are empty, and numbers of
 * elements 0, where the model has none. Since TENON_C_MINOR 2. */
typedef struct tenon_tensor_metadata
{
    size_t struct_size;
    const char* name;        /* a name for people; tenon_network_input gives the one in the graph */
    const char* description; /* a text for people */
    size_t num_means;
    const float* means; /* an input takes (x - mean) / std of values x as in pictures, 0 to 255; one number for all
                           channels or one for each, unchecked */
    size_t num_stds;
    const float* stds; /* see means */
    size_t num_labels;
    const char* const* labels; /* label i names index i of an axis, mostly the last: a class */
    size_t num_value_labels;
    const char* const* value_labels; /* label i names the value i of an element */
} tenon_tensor_metadata;

/* The metadata of an input, which live as long as the network. Parts that are damaged or missing in the file are empty,
 * and reading the network logs a warning for each. Since TENON_C_MINOR 2.
 * - TENON_INVALID_ARGUMENT: there is no input `index` */
TENON_C_API tenon_status TENON_CALL tenon_network_input_metadata(const tenon_network* network, size_t index,
                                                                 const tenon_tensor_metadata** metadata,
                                                                 tenon_error** error);
/* As tenon_network_input_metadata, for an output. Since TENON_C_MINOR 2. */
TENON_C_API tenon_status TENON_CALL tenon_network_output_metadata(const tenon_network* network, size_t index,
                                                                  const tenon_tensor_metadata** metadata,
                                                                  tenon_error** error);
/* 1 if the optimizer has run over it, else 0. */
TENON_C_API uint8_t TENON_CALL tenon_network_is_optimized(const tenon_network* network);

/* Writes a .tenon file, weights included. An optimized network is loaded without the optimizer's time, on machines that
 * have the same backends. A file that is there is replaced at the end, when all went well.
 * - TENON_INVALID_GRAPH: the network is malformed
 * - TENON_UNSUPPORTED: a layer holds something that no file can
 * - TENON_INVALID_ARGUMENT: the name ends with .armnn, .litertlm, .onnx, .task or .tflite, whose formats are not
 *   written; something other than a regular file is in the place
 * - TENON_ERROR: the file cannot be written */
TENON_C_API tenon_status TENON_CALL tenon_network_save(const tenon_network* network, const char* path,
                                                       tenon_error** error);
/* As tenon_network_save, but gives the bytes of the file, which the caller takes back by tenon_memory_destroy. */
TENON_C_API tenon_status TENON_CALL tenon_network_save_memory(const tenon_network* network, void** data,
                                                              size_t* num_bytes, tenon_error** error);

/* ---- Building networks ---- */

/* An output of a layer. It means nothing in another network. */
typedef uint32_t tenon_value;
/* In the place of an input that is not connected. */
#define TENON_NO_VALUE UINT32_MAX

/* Infos that a caller passes need type, rank and dims; scales and zero points of quantized tensors, and
 * quantization_dim where there are several scales or blocks; num_bytes is not read. Names may be null: inputs and
 * outputs are called "input_<index>" and "output_<index>" then. Names of inputs differ, and so do those of outputs. */

/* Makes an empty network. */
TENON_C_API tenon_status TENON_CALL tenon_network_create(tenon_network** network, tenon_error** error);
/* Adds an input and gives its value.
 * - TENON_INVALID_ARGUMENT: an input has the name already; there is no such type; the network was read or optimized */
TENON_C_API tenon_status TENON_CALL tenon_network_add_input(tenon_network* network, const char* name,
                                                            const tenon_tensor_info* info, tenon_value* value,
                                                            tenon_error** error);
/* Makes a value an output.
 * - TENON_INVALID_ARGUMENT: an output has the name already; there is no such value; the network was read or optimized
 */
TENON_C_API tenon_status TENON_CALL tenon_network_add_output(tenon_network* network, const char* name,
                                                             tenon_value value, tenon_error** error);
/* Adds a tensor that never changes, of `num_bytes` bytes, as many as `info` needs. in_place 1: the bytes are used where
 * they are, and must stay until the network and all that is made of it are destroyed; 0: they are copied.
 * - TENON_INVALID_ARGUMENT: another number of bytes; there is no such type; the network was read or optimized */
TENON_C_API tenon_status TENON_CALL tenon_network_add_constant(tenon_network* network, const char* name,
                                                               const tenon_tensor_info* info, const void* data,
                                                               size_t num_bytes, uint8_t in_place, tenon_value* value,
                                                               tenon_error** error);
/* Adds a layer of a type of include/tenon/ops.def, "Convolution2d". Attributes are the fields of its descriptor
 * (include/tenon/descriptors/) by their names without m_; those that are not given have their defaults. An enumerator
 * of include/tenon/Types.hpp is a TENON_STRING, "NHWC", or its number; floats may be TENON_INTS. `inputs` are by input
 * slot, TENON_NO_VALUE where none is connected: data, weights, biases and all other tensors, constant or not.
 * `outputs` gets the values of all num_outputs output slots. `output_infos` is null, or has an info for each output,
 * null where it is to be inferred; outputs that cannot be (quantized ones of most layers) must be given, and their
 * shape may be unknown. Shapes and types are checked by tenon_network_optimize and tenon_model_load.
 * - TENON_INVALID_ARGUMENT: no such type, or one that has a function of its own here; an attribute that the type does
 *   not have or of the wrong kind; a name or number of no enumerator; a value that does not exist;
 *   more inputs than the type has; another number of outputs */
TENON_C_API tenon_status TENON_CALL tenon_network_add_layer(tenon_network* network, const char* type, const char* name,
                                                            size_t num_attributes, const tenon_attribute* attributes,
                                                            size_t num_inputs, const tenon_value* inputs,
                                                            size_t num_outputs,
                                                            const tenon_tensor_info* const* output_infos,
                                                            tenon_value* outputs, tenon_error** error);
/* A layer that runs `then_network` or `else_network`, which are copied. Input 0 is the condition, a Boolean of one
 * element, input 1 + i is input i of both networks. Each has num_outputs outputs. */
TENON_C_API tenon_status TENON_CALL tenon_network_add_if(tenon_network* network, const char* name,
                                                         const tenon_network* then_network,
                                                         const tenon_network* else_network, size_t num_inputs,
                                                         const tenon_value* inputs, size_t num_outputs,
                                                         tenon_value* outputs, tenon_error** error);
/* A layer that runs `body` as long as output 0 of `condition`, a Boolean, is true. Both are copied. Input i is the
 * first value of loop variable i, input i of both networks, output i of the body its next value. */
TENON_C_API tenon_status TENON_CALL tenon_network_add_while(tenon_network* network, const char* name,
                                                            const tenon_network* condition, const tenon_network* body,
                                                            size_t num_variables, const tenon_value* inputs,
                                                            tenon_value* outputs, tenon_error** error);
/* A layer of an operator of the application. `parameters` are bytes that the operator finds in the layer's
 * attribute "Options". Each output has an info with its type; the shape may be unknown. */
TENON_C_API tenon_status TENON_CALL tenon_network_add_custom(tenon_network* network, const char* name,
                                                             const tenon_operator* custom, const void* parameters,
                                                             size_t num_parameter_bytes, size_t num_inputs,
                                                             const tenon_value* inputs, size_t num_outputs,
                                                             const tenon_tensor_info* const* output_infos,
                                                             tenon_value* outputs, tenon_error** error);

/* ---- Custom operators ---- */

/* The shape of an output. */
typedef struct tenon_shape
{
    uint32_t rank;   /* 0 for a scalar */
    int64_t dims[8]; /* the sizes, rank many */
} tenon_shape;

/* An operator that the CPU backends run by the application's functions, from any thread and from several at once. The
 * functions must not use the model that they run in. The struct is copied. In infer_shapes the layer's name is the
 * operator's, and its outputs have no types yet. */
struct tenon_operator
{
    size_t struct_size;
    const char* name;         /* in models: the custom_code of a .tflite file */
    void* self;               /* passed to the functions */
    uint32_t value_inputs;    /* bit i: infer_shapes needs the values of input i, one of the first 32 */
    uint8_t has_late_outputs; /* 1: only `run` knows the shapes of outputs; it takes their memory from
                                 tenon_execute_args::late_outputs, and infer_shapes is not called */
    /* Fills in the shapes of all layer->num_outputs outputs. Shapes of inputs are known; `values` has those that
     * value_inputs lists, null else. */
    tenon_status(TENON_CALL* infer_shapes)(void* self, const tenon_layer* layer, const void* const* values,
                                           tenon_shape* outputs, tenon_text* error);
    /* Whether the operator takes a layer of these types and parameters; shapes may be unknown. Optional: it does.
     */
    tenon_support_code(TENON_CALL* is_supported)(void* self, const tenon_layer* layer, tenon_text* reason);
    /* Computes args->outputs from args->inputs. */
    tenon_status(TENON_CALL* run)(void* self, const tenon_layer* layer, const tenon_execute_args* args,
                                  tenon_text* error);
    /* Called once for each successful tenon_network_add_custom, and once for each successful read that was given the
     * operator, when nothing needs it any more. A call that fails does not lead to it. Optional. */
    void(TENON_CALL* release)(void* self);
};

/* ---- Models ---- */

/* How a network is optimized, and how a model is loaded. */
typedef struct tenon_model_options
{
    size_t struct_size;
    size_t num_backends;
    const char* const* backends; /* of optimizing, in order of preference; none: CpuAcc, then CpuRef. An optimized
                                    network is loaded without them */
    uint32_t num_threads;        /* the maximum for loading, and for one run; 0: one for each core */
    size_t num_options;
    const tenon_option* options; /* keys of optimizing:
                                      fp16, bf16        true: floats are computed in 16 bits where a backend does (bf16: and faster)
                                      expanded_dims     true: declared shapes may differ by sizes of 1
                                    keys of loading:
                                      profiling         true: runs are profiled
                                      disabled_fusions  names with commas between: not to be tried
                                    keys of both:
                                      <backend>.<name>  an option of a backend, "CpuAcc.FastMathEnabled" */
} tenon_model_options;

/* Validates and simplifies a network and gives each layer to a backend: a new, optimized network. `options` may be
 * null. Warnings go to the log. Where the declared shape of an output contradicts the inferred one, the inferred one
 * counts, with a warning.
 * - TENON_INVALID_GRAPH, TENON_INVALID_LAYER: the network, or a layer of it, is malformed; the text names it
 * - TENON_UNSUPPORTED: layers that no backend takes; the text names all of them with the reasons
 * - TENON_INVALID_ARGUMENT: no such backend, or option; the network is optimized already
 * - TENON_LIMIT_EXCEEDED: a limit of the runtime; the text names it */
TENON_C_API tenon_status TENON_CALL tenon_network_optimize(tenon_runtime* runtime, const tenon_network* network,
                                                           const tenon_model_options* options,
                                                           tenon_network** optimized, tenon_error** error);

/* Optimizes a network, unless it is optimized already, and loads it. `options` may be null. The network stays as it is
 * and may be destroyed, but for an optimized one: the content of that goes into the model, also if loading fails.
 * - TENON_INVALID_ARGUMENT: also options of optimizing for an optimized network, and one whose content was taken
 * - further ones: as of tenon_network_optimize; TENON_OUT_OF_MEMORY */
TENON_C_API tenon_status TENON_CALL tenon_model_load(tenon_runtime* runtime, tenon_network* network,
                                                     const tenon_model_options* options, tenon_model** model,
                                                     tenon_error** error);
/* Takes back a model. Sessions that were made of it keep what they need. */
TENON_C_API void TENON_CALL tenon_model_destroy(tenon_model* model);

/* How many inputs a run takes. 0 for null. */
TENON_C_API size_t TENON_CALL tenon_model_num_inputs(const tenon_model* model);
/* The number of outputs of a run. 0 for null. */
TENON_C_API size_t TENON_CALL tenon_model_num_outputs(const tenon_model* model);
/* Name and info of an input, with the shape that the model was loaded with; each of the two pointers may be null.
 * - TENON_INVALID_ARGUMENT: there is no input `index` */
TENON_C_API tenon_status TENON_CALL tenon_model_input(const tenon_model* model, size_t index, const char** name,
                                                      const tenon_tensor_info** info, tenon_error** error);
/* As tenon_model_input, for an output. A size that only a run tells is TENON_UNKNOWN_DIM. */
TENON_C_API tenon_status TENON_CALL tenon_model_output(const tenon_model* model, size_t index, const char** name,
                                                       const tenon_tensor_info** info, tenon_error** error);
/* Sets the maximum number of threads of a run from now on; 0: one for each core. Where it rises, the next
 * run plans memory anew. */
TENON_C_API tenon_status TENON_CALL tenon_model_set_num_threads(tenon_model* model, uint32_t num_threads,
                                                                tenon_error** error);

/* ---- Runs ---- */

/* The type of the model's tensor, unchecked. */
#define TENON_ANY_TYPE (-1)

/* Memory of the caller that a model remembers; 0 is none. */
typedef uint32_t tenon_import_id;

/* A tensor of the caller, for an input or output of a run. */
typedef struct tenon_tensor
{
    void* data;                /* with any alignment; of an input it is only read */
    size_t num_bytes;          /* of data; as many as type and shape need */
    tenon_data_type type;      /* TENON_ANY_TYPE: that of the model, unchecked */
    uint32_t rank;             /* counts where dims is not null */
    const int64_t* dims;       /* null: the shape that tenon_model_input gives; for outputs it is not read */
    tenon_import_id import_id; /* memory that was imported for this input or output, in place of all of the above */
    uint32_t reserved[3];      /* 0 */
} tenon_tensor;

/* Gives the memory of output `index`, at least info->num_bytes bytes, which the run writes. `info` is valid during the
 * call. Null ends the run with TENON_INVALID_ARGUMENT, unless num_bytes is 0. Called once per output and run. It must
 * not use the model. */
typedef void*(TENON_CALL* tenon_output_allocator)(void* self, size_t index, const tenon_tensor_info* info);

/* The arguments of a run besides its tensors. */
typedef struct tenon_run_options
{
    size_t struct_size;
    tenon_session* session;           /* whose states the run uses; null: those of the model itself */
    tenon_cancellation* cancellation; /* null: the run goes to its end */
    tenon_output_allocator allocate;  /* asked for outputs whose `data` is null */
    void* allocate_self;              /* passed to it */
} tenon_run_options;

/* Runs the model once. There are as many inputs and outputs as the model has, in its order. Inputs may have other
 * shapes than at loading: memory is then planned anew, and kept. An output has the bytes that its shape needs, unless
 * data is null and the allocator is asked. Any number of threads may run one model; runs that share states wait for
 * each other. `options` may be null. Outputs of a run that fails are undefined; states are as before it.
 * - TENON_INVALID_ARGUMENT: a number, type or size that does not fit; the text names the input or output
 * - TENON_INVALID_LAYER: shapes or values of inputs do not fit a layer
 * - TENON_CANCELLED: it was cancelled
 * - TENON_LIMIT_EXCEEDED, TENON_OUT_OF_MEMORY */
TENON_C_API tenon_status TENON_CALL tenon_model_run(tenon_model* model, const tenon_run_options* options,
                                                    size_t num_inputs, const tenon_tensor* inputs, size_t num_outputs,
                                                    const tenon_tensor* outputs, tenon_error** error);

/* Makes states that begin with their initial values, apart from the model's own and those of other sessions. */
TENON_C_API tenon_status TENON_CALL tenon_session_create(tenon_model* model, tenon_session** session,
                                                         tenon_error** error);
/* Takes back a session and its states. */
TENON_C_API void TENON_CALL tenon_session_destroy(tenon_session* session);
/* Gives states their initial values again, after the run under way if there is one. */
TENON_C_API tenon_status TENON_CALL tenon_session_reset(tenon_session* session, tenon_error** error);
/* As tenon_session_reset, for the model's own states. */
TENON_C_API tenon_status TENON_CALL tenon_model_reset(tenon_model* model, tenon_error** error);

/* Makes an object that ends runs early: tenon_run_options::cancellation. It cancels nothing yet. */
TENON_C_API tenon_status TENON_CALL tenon_cancellation_create(tenon_cancellation** cancellation, tenon_error** error);
/* Takes back a cancellation, after all runs that were given it have returned. */
TENON_C_API void TENON_CALL tenon_cancellation_destroy(tenon_cancellation* cancellation);
/* Ends runs that were given it with TENON_CANCELLED: before their next layer, or at their beginning. A wait for another
 * run of the session and the planning of new shapes are not cut short. May be called from a signal handler. */
TENON_C_API void TENON_CALL tenon_cancellation_cancel(tenon_cancellation* cancellation);
/* Clears it, so that it can be used again. */
TENON_C_API void TENON_CALL tenon_cancellation_reset(tenon_cancellation* cancellation);

/* ---- Imported memory ---- */

/* Remembers memory of the caller for an input, so that a backend with a device need not map it in each run.
 * Runs use it where a tenon_tensor names it; it stays until it is cleared. It is aligned for its elements.
 * - TENON_IMPORT_FAILED: it cannot be used as it is; the log has the reason */
TENON_C_API tenon_status TENON_CALL tenon_model_import_input(tenon_model* model, size_t index,
                                                             const tenon_tensor* tensor, tenon_import_id* id,
                                                             tenon_error** error);
/* As tenon_model_import_input, for an output, whose memory is aligned to 16 bytes. */
TENON_C_API tenon_status TENON_CALL tenon_model_import_output(tenon_model* model, size_t index,
                                                              const tenon_tensor* tensor, tenon_import_id* id,
                                                              tenon_error** error);
/* Forgets memory of an input. The caller may free it once the runs under way have ended.
 * - TENON_INVALID_ARGUMENT: there is no such id */
TENON_C_API tenon_status TENON_CALL tenon_model_clear_input_import(tenon_model* model, tenon_import_id id,
                                                                   tenon_error** error);
/* As tenon_model_clear_input_import, for memory of an output. */
TENON_C_API tenon_status TENON_CALL tenon_model_clear_output_import(tenon_model* model, tenon_import_id id,
                                                                    tenon_error** error);

/* ---- Reports ---- */

/* The kinds of tenon_model_report. */
typedef int32_t tenon_report;
enum
{
    TENON_REPORT_ASSIGNMENT = 0, /* [{"layer", "type", "backend", "reason", ...}]: who runs each layer, and why */
    TENON_REPORT_STATISTICS = 1, /* {"arena_bytes", "arenas": [...], "workloads", "contexts"} */
    TENON_REPORT_PLAN = 2,    /* how the model runs with the shapes of its latest run, for which it is planned anew */
    TENON_REPORT_PROFILE = 3, /* microseconds by layer and run since loading, in Arm NN's form; of a model that was
                                 loaded with the option `profiling` */
    TENON_REPORT_TRACE = 4    /* the same times as events for Perfetto and chrome://tracing */
};
/* A report on the model as JSON. The caller destroys the text.
 * - TENON_INVALID_ARGUMENT: no such report; a profile or trace of a model that is not profiled */
TENON_C_API tenon_status TENON_CALL tenon_model_report(const tenon_model* model, tenon_report report, char** json,
                                                       tenon_error** error);

#endif /* TENON_C_TENON_H */
