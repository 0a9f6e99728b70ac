/* SPDX-License-Identifier: Apache-2.0 */
/* The table between Tenon and a backend in a shared object ("dynamic backend"). C99; a plugin needs this file and links
 * nothing of Tenon. docs/backends.md is the guide; samples/custom_backend a complete plugin.
 *
 * The rule of versions. A plugin is taken if its table's `major` is TENON_PLUGIN_MAJOR. Within a major version structs
 * that have a `struct_size` only grow at their end: who reads one uses a member only if it lies within the struct_size
 * that the writer set, and takes members beyond it as null or 0. Structs without struct_size never change.
 *
 * Ownership. Who makes an object destroys it: tenon_plugin_* objects belong to the plugin, and the host gives each back
 * exactly once, through the destroy function that belongs to the one that made it. Structs that are passed by pointer,
 * and all that they point to, are valid during the call only, but for constant data and blobs, which live as long as
 * the tenon_plugin_model that is passed, or whose workload is.
 *
 * Errors. Functions that can fail return a tenon_status and write a text to `error` if it is not TENON_OK. A function
 * that fails makes nothing. Neither exceptions nor longjmp may cross the line, in either direction.
 *
 * Threads. Every function may be called from any thread, and from several at once, unless it says otherwise. The
 * functions that the host hands to one call (tenon_late_outputs, tenon_subgraph_answer, tenon_sink) are called by one
 * thread at a time.
 *
 * Strings are UTF-8 and end with 0. Byte counts are size_t. All functions are required unless marked optional. */
#ifndef TENON_BACKEND_PLUGIN_H
#define TENON_BACKEND_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* How functions are called, of this table and of tenon/c/tenon.h. Only 32-bit Windows has several ways: options of the
 * compiler choose the default, which is this one without them. */
#if defined(_WIN32) && !defined(_WIN64)
#define TENON_CALL __cdecl
#else
#define TENON_CALL
#endif

#define TENON_PLUGIN_MAJOR 1u
/* 0: the first version. 1: fusion (tenon_plugin_table::shaped_fusion), tenon_layer::max_threads and output_pitch.
 * 2: tenon_tensor_info::quantization_block. */
#define TENON_PLUGIN_MINOR 2u

/* The one symbol that a plugin exports: a tenon_plugin_entry of this name. */
#define TENON_PLUGIN_ENTRY tenon_plugin_get_table
#define TENON_PLUGIN_ENTRY_NAME "tenon_plugin_get_table"

/* How a call went. Behind a status is the class of tenon/Exceptions.hpp that it stands for. */
typedef int32_t tenon_status;
enum
{
    TENON_OK = 0,               /* the call succeeded */
    TENON_ERROR = 1,            /* RuntimeException */
    TENON_INVALID_ARGUMENT = 2, /* InvalidArgumentException */
    TENON_UNSUPPORTED = 3,      /* UnimplementedException */
    TENON_OUT_OF_MEMORY = 4,    /* MemoryValidationException */
    TENON_INVALID_LAYER = 5,    /* LayerValidationException */
    TENON_INVALID_DATA = 6,     /* ParseException: bytes of a blob that are none */
    /* The following ones are of the C interface (tenon/c/tenon.h); a plugin that returns them means TENON_ERROR. */
    TENON_NOT_FOUND = 7,           /* FileNotFoundException */
    TENON_INVALID_GRAPH = 8,       /* GraphValidationException */
    TENON_BACKEND_UNAVAILABLE = 9, /* BackendUnavailableException */
    TENON_LIMIT_EXCEEDED = 10,     /* LimitExceededException */
    TENON_CANCELLED = 11,          /* CancelledException */
    TENON_IMPORT_FAILED = 12       /* MemoryImportException */
};

/* Room for a text; the writer cuts what does not fit and always ends it with 0. Never null, capacity at least 256.
 */
typedef struct tenon_text
{
    char* data;      /* where the text is written */
    size_t capacity; /* bytes, the 0 at the end included */
} tenon_text;

/* Element types: the numbers of tenon::DataType, which never change. */
typedef int32_t tenon_data_type;
enum
{
    TENON_FLOAT16 = 0,     /* IEEE 754 binary16 */
    TENON_FLOAT32 = 1,     /* float */
    TENON_QASYMM_U8 = 2,   /* uint8_t, quantized: scale and zero point */
    TENON_SIGNED32 = 3,    /* int32_t */
    TENON_BOOLEAN = 4,     /* uint8_t, 0 or 1 */
    TENON_QSYMM_S16 = 5,   /* int16_t, quantized: scale */
    TENON_QSYMM_S8 = 6,    /* int8_t, quantized: a scale, one for each index of a dimension, or one a block; weights */
    TENON_QASYMM_S8 = 7,   /* int8_t, quantized: scale and zero point */
    TENON_BFLOAT16 = 8,    /* the upper 16 bits of a float */
    TENON_SIGNED64 = 9,    /* int64_t */
    TENON_FLOAT64 = 10,    /* double */
    TENON_SIGNED8 = 11,    /* int8_t */
    TENON_SIGNED16 = 12,   /* int16_t */
    TENON_UNSIGNED8 = 13,  /* uint8_t */
    TENON_UNSIGNED16 = 14, /* uint16_t */
    TENON_UNSIGNED32 = 15, /* uint32_t */
    TENON_UNSIGNED64 = 16, /* uint64_t */
    TENON_QSYMM_S4 = 17,   /* -8 to 7, quantized: scales; two elements a byte, the first in the low half */
    TENON_COMPLEX64 = 18,  /* two floats: real, imaginary */
    TENON_COMPLEX128 = 19  /* two doubles: real, imaginary */
};

/* The rank of a shape of which not even the number of dimensions is known. */
#define TENON_UNKNOWN_RANK UINT32_MAX
/* A size that is not known. */
#define TENON_UNKNOWN_DIM (-1)

/* The type, shape and quantization of a tensor. */
typedef struct tenon_tensor_info
{
    size_t struct_size;
    tenon_data_type type;       /* the element type */
    uint32_t rank;              /* at most 8; 0 for a scalar; TENON_UNKNOWN_RANK */
    const int64_t* dims;        /* rank many; TENON_UNKNOWN_DIM where a size is known only in a run */
    size_t num_bytes;           /* 0 while a size is unknown */
    uint32_t num_scales;        /* 0: not quantized; 1: per tensor; else one for each index of quantization_dim, or
                                 * for each block */
    const float* scales;        /* real = scale * (stored - zero point) */
    uint32_t num_zero_points;   /* 1, or as many as scales */
    const int32_t* zero_points; /* stored numbers that stand for 0 */
    int32_t quantization_dim;   /* -1: per tensor */
    uint8_t is_constant;        /* 1: its values never change */
    uint8_t reserved[3];        /* 0 */
    /* Since minor version 2, here and in the C interface. This many neighbouring elements along quantization_dim share
     * a scale. Scales are in the order of the elements of a tensor of which each stands for a block. 0: quantization
     * is not blockwise. */
    size_t quantization_block;
} tenon_tensor_info;

/* The kinds of an attribute's values. */
typedef int32_t tenon_attribute_kind;
enum
{
    TENON_INTS = 0,   /* int64_t[count]: integers, enumerations, axes; a pair gives two */
    TENON_FLOATS = 1, /* double[count] */
    TENON_STRING = 2, /* char[count], and a 0 after them */
    TENON_BYTES = 3,  /* uint8_t[count] */
    TENON_BOOL = 4,   /* uint8_t[1]: 0 or 1 */
    TENON_SHAPE = 5   /* int64_t[count]: sizes or TENON_UNKNOWN_DIM */
};
/* A named value: a field of a layer's descriptor (include/tenon/descriptors/; the name is the field's without
 * m_), or an option. */
typedef struct tenon_attribute
{
    const char* name;          /* its name, "StrideX" */
    tenon_attribute_kind kind; /* what the values are */
    uint8_t is_unknown_rank;   /* 1: a shape of unknown rank; the count is 0 then, as for a scalar */
    size_t count;              /* how many values there are */
    const void* values;        /* the values; not read where the count is 0 */
} tenon_attribute;

typedef struct tenon_plugin_backend tenon_plugin_backend;   /* the backend, one per runtime */
typedef struct tenon_plugin_model tenon_plugin_model;       /* the backend with the options of one network */
typedef struct tenon_plugin_workload tenon_plugin_workload; /* a layer: created */
typedef struct tenon_plugin_shaped tenon_plugin_shaped;     /* a workload for known shapes: reshaped */
typedef struct tenon_plugin_blob tenon_plugin_blob;         /* layers that were compiled into one */
typedef struct tenon_plugin_memory tenon_plugin_memory;     /* a block of device memory */
typedef struct tenon_plugin_queue tenon_plugin_queue;       /* an in-order queue of a device */

/* A layer. When support is asked for and when its workload is created, shapes may be unknown. When a workload is
 * reshaped, all shapes are known but those of late outputs, and parameters that arrived as tensors are in the
 * attributes. */
typedef struct tenon_layer
{
    size_t struct_size;
    const char* type; /* the name in include/tenon/ops.def, e.g. "Convolution2d" */
    const char* name; /* the layer's own, maybe empty */
    uint64_t guid;    /* names the layer; unique within the process */
    size_t num_attributes;
    const tenon_attribute* attributes; /* the fields of its descriptor */
    size_t num_inputs;
    const tenon_tensor_info* const* inputs; /* by input slot; null where not connected */
    const void* const* constant_data;       /* by input slot: values of a constant input, else null */
    const uint8_t* input_is_constant;       /* by input slot; where it is 1 and constant_data null, nobody knows the
                                               values yet */
    size_t num_outputs;
    const tenon_tensor_info* const* outputs; /* by output slot */
    tenon_plugin_blob* blob;           /* of a layer of type "PreCompiled": the one that this plugin compiled; else
                                          null. The tensors around it may come from a file: check their sizes and
                                          types against the blob */
    size_t num_activation_attributes;  /* how many `activation` has */
    const tenon_attribute* activation; /* of an activation that is fused into the layer; none: num is 0 */
    /* Both since minor version 1; 0 but when a workload is reshaped. */
    uint32_t max_threads; /* the most threads that executions will use, for the size of scratch memory; executions with
                             more have to work, too. 0: not known */
    size_t output_pitch;  /* elements from the beginning of one pixel of output 0 (all elements along the last
                             dimension) to that of the next; nothing is written between them. 0: pixels follow each
                             other. Another value only where tenon_fusion::writes_pitched of the same layer and shapes
                             is 1 */
} tenon_layer;

/* Why a layer is refused: the numbers of tenon::SupportCode. */
typedef int32_t tenon_support_code;
enum
{
    TENON_SUPPORTED = 0,              /* it is not refused */
    TENON_UNKNOWN_LAYER = 1,          /* the backend has no kernel for the type of layer */
    TENON_UNSUPPORTED_TYPE = 2,       /* not with these element types */
    TENON_UNSUPPORTED_PARAMETERS = 3, /* not with these parameters, shapes or quantization */
    TENON_UNSUPPORTED_DYNAMIC = 4,    /* not with weights, parameters or shapes that are known only at run time */
    TENON_UNAVAILABLE = 5             /* not here: the backend, or a library that it needs, cannot be loaded */
};

/* The body of a loop that is split over the threads of a run: iterations from begin to end, without end. */
typedef void(TENON_CALL* tenon_loop_body)(void* body_data, size_t begin, size_t end);
/* The threads of a run. */
typedef struct tenon_parallel
{
    size_t struct_size;
    void* self;           /* passed to the function */
    uint32_t num_threads; /* the most that run the body at once */
    /* Runs body(begin, end) over [0, count) in pieces of at least `grain`; returns when all are done. The body must
     * not fail: it keeps its errors in body_data. */
    void(TENON_CALL* run)(void* self, size_t count, size_t grain, tenon_loop_body body, void* body_data);
} tenon_parallel;

/* A tensor in the memory of a device. */
typedef struct tenon_device_tensor
{
    tenon_plugin_memory* memory; /* null: not connected, a constant, or no bytes */
    size_t offset;               /* of its first byte in the memory */
} tenon_device_tensor;

/* Memory for outputs whose shape only the execution knows. */
typedef struct tenon_late_outputs
{
    size_t struct_size;
    void* self; /* passed to the functions */
    /* Fixes the shape of an output, once each, and gives its memory. */
    tenon_status(TENON_CALL* allocate)(void* self, size_t output, uint32_t rank, const int64_t* dims, void** memory,
                                       tenon_text* error);
    /* The same for a plugin with a device. */
    tenon_status(TENON_CALL* allocate_on_device)(void* self, size_t output, uint32_t rank, const int64_t* dims,
                                                 tenon_device_tensor* memory, tenon_text* error);
} tenon_late_outputs;

/* Memory of one execution. */
typedef struct tenon_execute_args
{
    size_t struct_size;
    size_t num_inputs;
    const void* const* inputs; /* null where not connected */
    size_t num_outputs;
    void* const* outputs;                   /* by output slot; of late outputs there is none */
    void* scratch;                          /* as many bytes as reshape asked for, aligned to 64 */
    const tenon_parallel* parallel;         /* the threads of the run */
    const tenon_late_outputs* late_outputs; /* null unless the layer's outputs are late */
    /* Only for plugins with device memory: their tensors are here; inputs above has constants, and inputs whose
     * values shape inference needs. execute submits its work to the queue and may return before it has run. */
    tenon_plugin_queue* queue;
    const tenon_device_tensor* device_inputs;  /* by input slot */
    const tenon_device_tensor* device_outputs; /* by output slot */
    tenon_device_tensor device_scratch;        /* in place of scratch */
} tenon_execute_args;

typedef struct tenon_subgraph_layer
{
    const tenon_layer* layer;
    const uint32_t* inputs;  /* numbers of tensors by input slot; UINT32_MAX where not connected */
    const uint32_t* outputs; /* by output slot */
} tenon_subgraph_layer;

/* Connected layers that were assigned to the plugin; producers come first. */
typedef struct tenon_subgraph
{
    size_t struct_size;
    size_t num_layers;
    const tenon_subgraph_layer* layers;
    size_t num_inputs; /* tensors that come from outside and are no constants */
    const uint32_t* inputs;
    size_t num_outputs; /* tensors that are read outside */
    const uint32_t* outputs;
    size_t num_tensors;
    const tenon_tensor_info* const* tensors;
} tenon_subgraph;

/* The functions by which a plugin changes a subgraph. Layers are named by their place in it, each at most once; those
 * that are not named stay as they are. Each function copies its arguments. */
typedef struct tenon_subgraph_answer
{
    size_t struct_size;
    void* self;
    /* The layers become one PreCompiled layer that runs `blob`, which the host takes over, even if this fails. Its
     * inputs and outputs are these tensors in this order: all that the layers read from others, and all that others
     * read. `name` is the layer's, or null. */
    tenon_status(TENON_CALL* compile)(void* self, size_t num_layers, const size_t* layers, size_t num_inputs,
                                      const uint32_t* inputs, size_t num_outputs, const uint32_t* outputs,
                                      tenon_plugin_blob* blob, const char* name, tenon_text* error);
    /* The plugin cannot run the layers after all: they go to the next backend. */
    tenon_status(TENON_CALL* fail)(void* self, size_t num_layers, const size_t* layers, const char* reason,
                                   tenon_text* error);
    /* Layers that change nothing: they go, and whoever reads them reads their input. */
    tenon_status(TENON_CALL* remove)(void* self, size_t num_layers, const size_t* layers, tenon_text* error);
} tenon_subgraph_answer;

/* Takes bytes, call after call. */
typedef struct tenon_sink
{
    size_t struct_size;
    void* self;
    tenon_status(TENON_CALL* write)(void* self, const void* bytes, size_t count, tenon_text* error);
} tenon_sink;

/* How grave a message is: the numbers of tenon::LogSeverity. */
typedef int32_t tenon_severity;
enum
{
    TENON_TRACE = 0,          /* each step, for developers of Tenon */
    TENON_DEBUG = 1,          /* decisions, for who looks for a reason */
    TENON_INFO = 2,           /* what a user may like to know */
    TENON_WARNING = 3,        /* something may not be as meant */
    TENON_ERROR_SEVERITY = 4, /* something failed */
    TENON_FATAL = 5           /* nothing can go on */
};

/* The host's offers. The struct lives until backend_destroy of the backend that it was given to has returned. */
typedef struct tenon_host
{
    size_t struct_size;
    uint32_t major; /* of the host's plugin.h */
    uint32_t minor;
    const char* version; /* of Tenon */
    void* self;
    /* Writes to Tenon's log. */
    void(TENON_CALL* log)(void* self, tenon_severity severity, const char* text);
} tenon_host;

/* The offset of a tensor that is no range of another one. */
#define TENON_NO_ALIAS SIZE_MAX

/* The layers after the product of queries and keys in an attention: softmax(beta * (scores + added)) * values. */
typedef struct tenon_attention
{
    size_t struct_size;
    const tenon_tensor_info* added; /* a mask, broadcast to the scores; null: nothing is added */
    float beta;                     /* of the softmax, which is along the last dimension */
    uint8_t is_shared;              /* 1: several threads share the work of one execution, each with scratch memory of
                                       its own; 0: one thread runs it */
    const tenon_layer* product;     /* the BatchMatMul of the softmax and the values, to be reshaped; its guid is 0 */
} tenon_attention;

/* The offers of a shaped workload to the planner, which may run several layers as one, or let tensors share memory. The
 * plugin makes and writes it; it and all that it points to stay as they are as long as the shaped workload. A member
 * that is 0 or null offers nothing. Results are the same bytes as without fusion, unless a member says otherwise. A
 * plugin with a device offers names, is_copy and aliases only: the planner does the rest in host memory alone. The host
 * checks offers; an offer that does not suit the layer ends the call that led there with an error. Since minor version
 * 1. */
typedef struct tenon_fusion
{
    size_t struct_size;
    /* The name of the kernel that runs, for profiles; null: that of workload_name. */
    const char* kernel_name;
    /* The kernels that were tried before this one and why each declined, "NpuSoftmax: not along the last dimension";
     * null: none was. */
    const char* declined;
    /* 1: output 0, the only one, gets the bytes of input 0 as they are. Both may then be the same memory, where
     * shaped_execute has to do nothing. */
    uint8_t is_copy;
    /* 1: workload_reshape takes tenon_layer::output_pitch for a layer of these shapes. Also of a workload that was
     * reshaped with a pitch; where it says 0 there, or workload_reshape gives null, the output is not written so. */
    uint8_t writes_pitched;
    /* How many threads may run the layer at once when it is tiled: reshaped anew for one index of leading dimensions,
     * with scratch memory for each thread; UINT32_MAX: any number. 0: the layer is not to be tiled. Tensors of tiles
     * are aligned to their elements only. */
    uint32_t max_tile_threads;

    /* Tensors that are ranges of another one, byte for byte. Offsets are in bytes, or TENON_NO_ALIAS. Counts are those
     * of the layer's inputs or outputs, or 0: none is. The tensors may then share memory; shaped_execute leaves alone
     * the tensors that lie in their place already, which it sees by their addresses. */
    size_t num_inputs_in_output;
    const size_t* inputs_in_output; /* by input: of its first byte in output 0, as of a Concat along the outermost
                                       dimension. Ranges of different inputs do not overlap */
    size_t num_outputs_in_input;
    const size_t* outputs_in_input; /* by output: of its first byte in input 0, as of such a Splitter */
    /* By input, where each pixel of output 0 (all elements along the last dimension) is the concatenation of a pixel of
     * each input of the same element type: of the first byte of its first pixel in output 0. Pixels of different inputs
     * do not overlap. */
    size_t num_inputs_in_pixels;
    const size_t* inputs_in_pixels;

    /* The layer as a loop over elements, its fused activation included: computes `count` elements of output 0, the only
     * one, from the elements at the same place of each input. Inputs that the layer broadcasts are elements of their
     * own in it. The output may be the memory of an input whose elements have the same size. Several threads may call
     * it at once, and it must not fail. Null: each element of the output does not come from one element of each
     * input. */
    void(TENON_CALL* element_loop)(tenon_plugin_shaped* shaped, const void* const* inputs, void* output, size_t count);
    /* Makes a workload of this layer and a sum after it, so that a residual is added in the epilogue. Its inputs are
     * those of this one and then a tensor of the type and shape of output 0, which is added to the output; then the
     * activation of these attributes applies (none: num_attributes is 0). The output may be the memory of that input.
     * Gives a null `sum` where there is none; that is no error. `sum` is destroyed before `shaped`. */
    tenon_status(TENON_CALL* add_tensor)(tenon_plugin_shaped* shaped, size_t num_attributes,
                                         const tenon_attribute* activation, tenon_plugin_shaped** sum,
                                         size_t* scratch_bytes, tenon_text* error);
    /* For a BatchMatMul only: makes a workload of it and the layers of an attention after it. Its inputs are those of
     * this one, then the added tensor if there is one, then the values; its output is the second product's. Float sums
     * may be taken in another order than by the layers, but in the same order for any number of threads. Gives a null
     * `attention` where there is none; that is no error. `attention` is destroyed before `shaped`. */
    tenon_status(TENON_CALL* make_attention)(tenon_plugin_shaped* shaped, const tenon_attention* rest,
                                             tenon_plugin_shaped** attention, size_t* scratch_bytes, tenon_text* error);
} tenon_fusion;

/* Memory and queues of a device. The table's member of this type is null for a plugin on the host. Semantics: see
 * include/tenon/backend/ITensorHandleFactory.hpp, of which this is the C form. */
typedef struct tenon_device
{
    size_t struct_size;
    const char* memory_id;
    size_t alignment;      /* a power of two, at least 1 */
    uint32_t import_flags; /* tenon::MemorySource bits that memory_import takes: 1 is malloc */

    tenon_status(TENON_CALL* memory_allocate)(tenon_plugin_backend* backend, size_t bytes, tenon_plugin_memory** memory,
                                              tenon_text* error);
    /* Optional. Gives a null memory where this block cannot be used; that is no error. */
    tenon_status(TENON_CALL* memory_import)(tenon_plugin_backend* backend, void* host, size_t bytes, uint32_t source,
                                            tenon_plugin_memory** memory, tenon_text* error);
    void(TENON_CALL* memory_free)(tenon_plugin_backend* backend, tenon_plugin_memory* memory);

    /* The functions of one queue are called by one thread at a time. */
    tenon_status(TENON_CALL* queue_create)(tenon_plugin_backend* backend, tenon_plugin_queue** queue,
                                           tenon_text* error);
    /* Waits for all work under way. */
    void(TENON_CALL* queue_destroy)(tenon_plugin_backend* backend, tenon_plugin_queue* queue);
    tenon_status(TENON_CALL* queue_write)(tenon_plugin_queue* queue, tenon_plugin_memory* target, size_t offset,
                                          const void* source, size_t bytes, tenon_text* error);
    tenon_status(TENON_CALL* queue_read)(tenon_plugin_queue* queue, void* target, tenon_plugin_memory* source,
                                         size_t offset, size_t bytes, tenon_text* error);
    tenon_status(TENON_CALL* queue_copy)(tenon_plugin_queue* queue, tenon_plugin_memory* target, size_t target_offset,
                                         tenon_plugin_memory* source, size_t source_offset, size_t bytes,
                                         tenon_text* error);
    /* Optional, both or none. access: 0 reads, 1 writes all of it. Mapping waits for all work submitted before. */
    tenon_status(TENON_CALL* queue_map)(tenon_plugin_queue* queue, tenon_plugin_memory* memory, size_t offset,
                                        size_t bytes, int32_t access, void** mapped, tenon_text* error);
    tenon_status(TENON_CALL* queue_unmap)(tenon_plugin_queue* queue, tenon_plugin_memory* memory, void* mapped,
                                          tenon_text* error);
    tenon_status(TENON_CALL* queue_signal)(tenon_plugin_queue* queue, uint64_t* fence, tenon_text* error);
    tenon_status(TENON_CALL* queue_wait)(tenon_plugin_queue* queue, uint64_t fence, tenon_text* error);
} tenon_device;

/* Hooks around the loading and running of networks that have layers on the plugin; network ids are the application's.
 */
typedef struct tenon_hooks
{
    size_t struct_size;
    /* All are optional. A status other than TENON_OK of the first two or of after_enqueue ends the call that led there.
     */
    tenon_status(TENON_CALL* before_load)(tenon_plugin_backend* backend, int32_t network, tenon_text* error);
    tenon_status(TENON_CALL* before_enqueue)(tenon_plugin_backend* backend, int32_t network, tenon_text* error);
    tenon_status(TENON_CALL* after_enqueue)(tenon_plugin_backend* backend, int32_t network, tenon_text* error);
    void(TENON_CALL* after_load)(tenon_plugin_backend* backend, int32_t network);
    void(TENON_CALL* before_unload)(tenon_plugin_backend* backend, int32_t network);
    void(TENON_CALL* after_unload)(tenon_plugin_backend* backend, int32_t network);
} tenon_hooks;

/* The table that describes a plugin. It is a constant of the plugin's. */
typedef struct tenon_plugin_table
{
    size_t struct_size;
    uint32_t major; /* TENON_PLUGIN_MAJOR and TENON_PLUGIN_MINOR as the plugin was compiled */
    uint32_t minor;

    const char* id;             /* the BackendId, e.g. "VendorNpu" */
    const char* vendor_version; /* for people */
    const tenon_device* device; /* null: tensors are in host memory */
    const tenon_hooks* hooks;   /* null: none */

    /* Once per runtime; `options` are those of IRuntime::CreationOptions for this backend. One that was given as a text
     * is a truth value or number where it reads as one. */
    tenon_status(TENON_CALL* backend_create)(const tenon_host* host, size_t num_options, const tenon_attribute* options,
                                             tenon_plugin_backend** backend, tenon_text* error);
    void(TENON_CALL* backend_destroy)(tenon_plugin_backend* backend);
    /* Named abilities as attributes. Valid as long as the backend. Optional. */
    void(TENON_CALL* backend_capabilities)(tenon_plugin_backend* backend, size_t* count,
                                           const tenon_attribute** capabilities);

    /* For each network that is optimized and for each that is loaded, once or more; `options` are its ModelOptions for
     * this backend. */
    tenon_status(TENON_CALL* model_create)(tenon_plugin_backend* backend, size_t num_options,
                                           const tenon_attribute* options, tenon_plugin_model** model,
                                           tenon_text* error);
    void(TENON_CALL* model_destroy)(tenon_plugin_model* model);

    /* Changes nothing. `reason` is for people and stays empty where the answer is TENON_SUPPORTED. */
    tenon_support_code(TENON_CALL* is_supported)(tenon_plugin_model* model, const tenon_layer* layer,
                                                 tenon_text* reason);
    /* Whether the plugin runs the layer with this activation fused into it. Optional: it fuses none. */
    tenon_support_code(TENON_CALL* is_activation_fusable)(tenon_plugin_model* model, const tenon_layer* layer,
                                                          size_t num_attributes, const tenon_attribute* activation,
                                                          tenon_text* reason);
    /* Optional: subgraphs stay as they are. */
    tenon_status(TENON_CALL* optimize_subgraph)(tenon_plugin_model* model, const tenon_subgraph* subgraph,
                                                const tenon_subgraph_answer* answer, tenon_text* error);

    /* The three steps of a workload: see include/tenon/backend/IWorkload.hpp. */
    tenon_status(TENON_CALL* workload_create)(tenon_plugin_model* model, const tenon_layer* layer,
                                              tenon_plugin_workload** workload, tenon_text* error);
    void(TENON_CALL* workload_destroy)(tenon_plugin_workload* workload);
    /* The kernel's name for profiles; valid as long as the workload. */
    const char*(TENON_CALL* workload_name)(tenon_plugin_workload* workload);
    /* Gives a null `shaped`, which is no error, only where layer->output_pitch is not 0 and the output cannot be
     * written so after all. */
    tenon_status(TENON_CALL* workload_reshape)(tenon_plugin_workload* workload, const tenon_layer* layer,
                                               tenon_plugin_shaped** shaped, size_t* scratch_bytes, tenon_text* error);
    void(TENON_CALL* shaped_destroy)(tenon_plugin_shaped* shaped);
    tenon_status(TENON_CALL* shaped_execute)(tenon_plugin_shaped* shaped, const tenon_execute_args* args,
                                             tenon_text* error);

    /* Blobs of PreCompiled layers. Optional, all or none, where optimize_subgraph is null or never compiles; save
     * and load are optional for themselves: networks with such layers cannot be written to files then. */
    void(TENON_CALL* blob_destroy)(tenon_plugin_blob* blob);
    tenon_status(TENON_CALL* blob_save)(tenon_plugin_backend* backend, const tenon_plugin_blob* blob,
                                        const tenon_sink* sink, tenon_text* error);
    tenon_status(TENON_CALL* blob_load)(tenon_plugin_backend* backend, const void* bytes, size_t count,
                                        tenon_plugin_blob** blob, tenon_text* error);

    /* Since minor version 1. The offers of a shaped workload to the planner, also of one that a member of tenon_fusion
     * made; null: none. Optional. */
    const tenon_fusion*(TENON_CALL* shaped_fusion)(tenon_plugin_shaped* shaped);
} tenon_plugin_table;

/* The type of the exported symbol, which C++ declares extern "C". The table lives as long as the shared object is
 * loaded. */
typedef const tenon_plugin_table*(TENON_CALL* tenon_plugin_entry)(void);

#endif /* TENON_BACKEND_PLUGIN_H */
