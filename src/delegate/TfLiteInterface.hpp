// SPDX-License-Identifier: Apache-2.0
// TfLiteInterface: TensorFlow Lite's C interface for delegates, as declarations of our own, in its names. Structs have
// the members of every runtime since release 2.5. Members that later releases appended are marked, and are read only if
// the runtime is known to have them. Included by the files here. tests/delegate/InterfaceTest.cpp compares them with
// TensorFlow's own header if there is one.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C"
{

    enum TfLiteStatus : int32_t
    {
        kTfLiteOk = 0,
        kTfLiteError = 1,
        kTfLiteDelegateError = 2,
        kTfLiteApplicationError = 3,
        kTfLiteCancelled = 8 // since 2022
    };

    /// The numbers differ from the model file's TensorType.
    enum TfLiteType : int32_t
    {
        kTfLiteNoType = 0,
        kTfLiteFloat32 = 1,
        kTfLiteInt32 = 2,
        kTfLiteUInt8 = 3,
        kTfLiteInt64 = 4,
        kTfLiteString = 5,
        kTfLiteBool = 6,
        kTfLiteInt16 = 7,
        kTfLiteComplex64 = 8,
        kTfLiteInt8 = 9,
        kTfLiteFloat16 = 10,
        kTfLiteFloat64 = 11,
        kTfLiteComplex128 = 12,
        kTfLiteUInt64 = 13,
        kTfLiteResource = 14,
        kTfLiteVariant = 15,
        kTfLiteUInt32 = 16,
        kTfLiteUInt16 = 17,
        kTfLiteInt4 = 18,
        kTfLiteBFloat16 = 19,
        kTfLiteInt2 = 20,
        kTfLiteUInt4 = 21,
        kTfLiteFloat8E4M3FN = 22,
        kTfLiteFloat8E5M2 = 23
    };

    enum TfLiteAllocationType : int32_t
    {
        kTfLiteMemNone = 0,
        kTfLiteMmapRo = 1, ///< a constant of the model
        kTfLiteArenaRw = 2,
        kTfLiteArenaRwPersistent = 3,
        kTfLiteDynamic = 4, ///< allocated by a kernel while it runs
        kTfLitePersistentRo = 5,
        kTfLiteCustom = 6,
        kTfLiteVariantObject = 7,
        kTfLiteNonCpu = 8
    };

    enum TfLiteQuantizationType : int32_t
    {
        kTfLiteNoQuantization = 0,
        kTfLiteAffineQuantization = 1,
        kTfLiteBlockwiseQuantization = 2,
        kTfLiteMultiAxisQuantization = 3
    };

    enum TfLiteDelegateFlags : int64_t
    {
        kTfLiteDelegateFlagsNone = 0,
        kTfLiteDelegateFlagsAllowDynamicTensors = 1
    };

    enum TfLiteDimensionType : int32_t
    {
        kTfLiteDimDense = 0,
        kTfLiteDimSparseCSR = 1
    };

    struct TfLiteContext;
    struct TfLiteDelegate;

    /// A list of `size` elements.
    struct TfLiteIntArray
    {
        int32_t size;
        int32_t data[1]; // NOLINT: as long as size says
    };

    struct TfLiteFloatArray
    {
        int32_t size;
        float data[1]; // NOLINT: as long as size says
    };

    /// Its layout in TensorFlow's sources since 2026, before any release.
    struct TfLiteFloatArrayOf2026
    {
        float* data;
        int32_t size;
        bool owning;
    };

    /// The quantization of a tensor with one scale; the scale is 0 if there is none or several.
    struct TfLiteQuantizationParams
    {
        float scale;
        int32_t zero_point;
    };

    struct TfLiteQuantization
    {
        TfLiteQuantizationType type;
        void* params; ///< a struct that depends on the type, or null
    };

    struct TfLiteAffineQuantization
    {
        TfLiteFloatArray* scale; ///< read by NodeReader alone, which knows its layout
        TfLiteIntArray* zero_point;
        int32_t quantized_dimension;
    };

    /// Numbers of tensors of the context.
    struct TfLiteBlockwiseQuantization
    {
        int32_t scale;
        int32_t zero_point; ///< below 0: none
        int32_t blocksize;
        int32_t quantized_dimension;
    };

    /// A level of a sparse tensor's tree.
    struct TfLiteDimensionMetadata
    {
        TfLiteDimensionType format;
        int32_t dense_size;
        TfLiteIntArray* array_segments;
        TfLiteIntArray* array_indices;
    };

    struct TfLiteSparsity
    {
        TfLiteIntArray* traversal_order;
        TfLiteIntArray* block_map;
        TfLiteDimensionMetadata* dim_metadata;
        int32_t dim_metadata_size;
    };

    struct TfLiteTensor
    {
        TfLiteType type;
        void* data; ///< null until memory is allocated
        TfLiteIntArray* dims;
        TfLiteQuantizationParams params;
        TfLiteAllocationType allocation_type;
        size_t bytes; ///< bytes of data
        const void* allocation;
        const char* name;
        TfLiteDelegate* delegate;
        int32_t buffer_handle;
        bool data_is_stale;
        bool is_variable;
        TfLiteQuantization quantization;
        TfLiteSparsity* sparsity;             ///< null: dense
        const TfLiteIntArray* dims_signature; ///< with -1 for sizes that vary; null: as dims
    };

    struct TfLiteNode
    {
        TfLiteIntArray* inputs; ///< numbers of tensors; -1: absent
        TfLiteIntArray* outputs;
        TfLiteIntArray* intermediates;
        TfLiteIntArray* temporaries;
        void* user_data;                 ///< result of the kernel's init
        void* builtin_data;              ///< options of a builtin operator: a struct that depends on the operator, or
                                         ///< null
        const void* custom_initial_data; ///< options of a custom operator
        int32_t custom_initial_data_size;
        TfLiteDelegate* delegate;
        bool might_have_side_effect; // since 2.6
    };

    struct TfLiteRegistration
    {
        void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
        void (*free)(TfLiteContext* context, void* buffer);
        TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
        TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
        const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
        int32_t builtin_code;
        const char* custom_name;
        int32_t version;
        void* registration_external; // since 2.9
        void* async_kernel;          // since 2.12
        uint64_t inplace_operator;   // since 2.14
    };

    /// A kernel's registration, which a delegate passes by value: a runtime that knows more members reads zeros.
    struct TfLiteKernelRegistration
    {
        TfLiteRegistration registration;
        void* reserved[16];
    };

    /// The argument of a delegate's kernel: init's buffer points to it.
    struct TfLiteDelegateParams
    {
        TfLiteDelegate* delegate;
        TfLiteIntArray* nodes_to_replace; ///< in the order in which they run
        TfLiteIntArray* input_tensors;    ///< constants, too
        TfLiteIntArray* output_tensors;   ///< tensors that are used outside
    };

    struct TfLiteContext
    {
        size_t tensors_size;
        /// The plan belongs to the runtime, until the next call.
        TfLiteStatus (*GetExecutionPlan)(TfLiteContext* context, TfLiteIntArray** plan);
        TfLiteTensor* tensors;
        void* impl_;
        /// Takes ownership of the array, which must come from malloc.
        TfLiteStatus (*ResizeTensor)(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* size);
        void (*ReportError)(TfLiteContext* context, const char* format, ...);
        TfLiteStatus (*AddTensors)(TfLiteContext* context, int32_t count, int32_t* first);
        TfLiteStatus (*GetNodeAndRegistration)(TfLiteContext* context, int32_t node, TfLiteNode** nodeOut,
                                               TfLiteRegistration** registration);
        TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(TfLiteContext* context,
                                                              TfLiteKernelRegistration registration,
                                                              const TfLiteIntArray* nodes, TfLiteDelegate* delegate);
        int32_t recommended_num_threads; ///< below 1: not set by the application
        void* (*GetExternalContext)(TfLiteContext* context, int32_t type);
        void (*SetExternalContext)(TfLiteContext* context, int32_t type, void* external);
        bool allow_fp32_relax_to_fp16;
        void* profiler;
        void* (*AllocatePersistentBuffer)(TfLiteContext* context, size_t bytes);
        TfLiteStatus (*AllocateBufferForEval)(TfLiteContext* context, size_t bytes, void** buffer);
        TfLiteStatus (*RequestScratchBufferInArena)(TfLiteContext* context, size_t bytes, int32_t* buffer);
        void* (*GetScratchBuffer)(TfLiteContext* context, int32_t buffer);
        TfLiteStatus (*ResizeTensorExplicit)(TfLiteContext* context, TfLiteTensor* tensor, int32_t rank,
                                             const int32_t* sizes);
        /// The partitions that replacing these nodes would make. They belong to the runtime, until the next call.
        TfLiteStatus (*PreviewDelegatePartitioning)(TfLiteContext* context, const TfLiteIntArray* nodes,
                                                    TfLiteDelegateParams** partitions, int32_t* count);
        TfLiteTensor* (*GetTensor)(const TfLiteContext* context, int32_t tensor);
        void* (*GetEvalTensor)(const TfLiteContext* context, int32_t tensor);
        TfLiteStatus (*GetModelMetadata)(const TfLiteContext* context, const char* name, const char** data,
                                         size_t* bytes); // since 2.6
        TfLiteStatus (*AcquireSubgraphContext)(TfLiteContext* context, int32_t subgraph,
                                               TfLiteContext** acquired);                 // since 2.13
        TfLiteStatus (*ReleaseSubgraphContext)(TfLiteContext* context, int32_t subgraph); // since 2.13
    };

    struct TfLiteDelegate
    {
        void* data_;
        TfLiteStatus (*Prepare)(TfLiteContext* context, TfLiteDelegate* delegate);
        TfLiteStatus (*CopyFromBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate, int32_t handle,
                                             TfLiteTensor* tensor);
        TfLiteStatus (*CopyToBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate, int32_t handle,
                                           TfLiteTensor* tensor);
        void (*FreeBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate, int32_t* handle);
        int64_t flags;
        void* opaque_delegate_builder; // since 2.10
    };

} // extern "C"

namespace tenon::delegate
{

/// The number of an absent operand of a node.
constexpr int32_t AbsentTensor = -1;
/// The builtin_code of a custom operator, and of a delegate's kernel.
constexpr int32_t CustomCode = 32;
constexpr int32_t DelegateCode = 51;

// The layout of all runtimes since release 2.5 on machines with 64-bit pointers. On 32-bit Arm the registration by
// value moves the arguments after it, depending on the runtime's release: the delegate is not built there.
static_assert(sizeof(void*) == 8);
static_assert(offsetof(TfLiteIntArray, data) == 4 && offsetof(TfLiteFloatArray, data) == 4);
static_assert(offsetof(TfLiteAffineQuantization, quantized_dimension) == 16 && sizeof(TfLiteAffineQuantization) == 24);
static_assert(sizeof(TfLiteTensor) == 112 && offsetof(TfLiteTensor, dims) == 16);
static_assert(offsetof(TfLiteTensor, allocation_type) == 32 && offsetof(TfLiteTensor, bytes) == 40);
static_assert(offsetof(TfLiteTensor, is_variable) == 77 && offsetof(TfLiteTensor, quantization) == 80);
static_assert(offsetof(TfLiteTensor, sparsity) == 96 && offsetof(TfLiteTensor, dims_signature) == 104);
static_assert(sizeof(TfLiteNode) == 80 && offsetof(TfLiteNode, builtin_data) == 40);
static_assert(offsetof(TfLiteNode, custom_initial_data_size) == 56 && offsetof(TfLiteNode, delegate) == 64);
static_assert(sizeof(TfLiteRegistration) == 88 && offsetof(TfLiteRegistration, builtin_code) == 40);
static_assert(offsetof(TfLiteRegistration, version) == 56 && offsetof(TfLiteRegistration, inplace_operator) == 80);
static_assert(sizeof(TfLiteDelegateParams) == 32);
static_assert(sizeof(TfLiteContext) == 200 && offsetof(TfLiteContext, ResizeTensor) == 32);
static_assert(offsetof(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels) == 64);
static_assert(offsetof(TfLiteContext, recommended_num_threads) == 72);
static_assert(offsetof(TfLiteContext, PreviewDelegatePartitioning) == 152);
static_assert(offsetof(TfLiteContext, GetModelMetadata) == 176);
static_assert(sizeof(TfLiteDelegate) == 56 && offsetof(TfLiteDelegate, flags) == 40);

} // namespace tenon::delegate
