// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that read or write where the indices of another tensor say, or that give indices.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

/// Gather: takes slices of input 0 by the indices of input 1.
struct GatherDescriptor : detail::Described<GatherDescriptor>
{
    GatherDescriptor() = default;
    GatherDescriptor(int32_t axis) : m_Axis(axis) {}

    int32_t m_Axis = 0;      ///< negative counts from the end
    int32_t m_BatchDims = 0; ///< Tenon: leading dimensions that both inputs share

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &GatherDescriptor::m_Axis);
        v("BatchDims", &GatherDescriptor::m_BatchDims);
    }
};

/// StablehloGather (Tenon): StableHLO's gather of slices. Input 1 holds index vectors along m_IndexVectorDim (or single
/// indices where that is its rank); each says where in input 0 a slice starts, moved inwards where it would stick out.
struct StablehloGatherDescriptor : detail::Described<StablehloGatherDescriptor>
{
    std::vector<uint32_t> m_OffsetDims;         ///< dimensions of the output that walk within a slice; ascending
    std::vector<uint32_t> m_CollapsedSliceDims; ///< dimensions of input 0 that the output does not have
    std::vector<uint32_t> m_StartIndexMap;      ///< the dimension of input 0 that each entry of an index vector is for
    uint32_t m_IndexVectorDim = 0;
    std::vector<uint32_t> m_SliceSizes; ///< one a dimension of input 0; 1 where collapsed

    template <typename V>
    static void Visit(V&& v)
    {
        v("OffsetDims", &StablehloGatherDescriptor::m_OffsetDims);
        v("CollapsedSliceDims", &StablehloGatherDescriptor::m_CollapsedSliceDims);
        v("StartIndexMap", &StablehloGatherDescriptor::m_StartIndexMap);
        v("IndexVectorDim", &StablehloGatherDescriptor::m_IndexVectorDim);
        v("SliceSizes", &StablehloGatherDescriptor::m_SliceSizes);
    }
};

/// ScatterNd: inputs are the tensor (or shape), indices and updates.
struct ScatterNdDescriptor : detail::Described<ScatterNdDescriptor>
{
    ScatterNdDescriptor() = default;
    ScatterNdDescriptor(ScatterNdFunction function, bool inputEnabled)
        : m_Function(function), m_InputEnabled(inputEnabled)
    {
    }

    ScatterNdFunction m_Function = ScatterNdFunction::Update;
    bool m_InputEnabled = true; ///< input 0 is a tensor to update; else it holds the output's shape
    int32_t m_Axis = 0;         ///< only 0
    bool m_AxisEnabled = false; ///< only false

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ScatterNdDescriptor::m_Function);
        v("InputEnabled", &ScatterNdDescriptor::m_InputEnabled);
        v("Axis", &ScatterNdDescriptor::m_Axis);
        v("AxisEnabled", &ScatterNdDescriptor::m_AxisEnabled);
    }
};

/// StablehloScatter (Tenon): StableHLO's scatter. The output is input 0 with windows of input 2 put in, in the order of
/// their elements, where the index vectors of input 1 say. Windows that lie outside of input 0 are left out.
struct StablehloScatterDescriptor : detail::Described<StablehloScatterDescriptor>
{
    ScatterNdFunction m_Function = ScatterNdFunction::Update;
    std::vector<uint32_t> m_UpdateWindowDims;         ///< dimensions of input 2 that walk within a window; ascending
    std::vector<uint32_t> m_InsertedWindowDims;       ///< dimensions of input 0 that windows do not have
    std::vector<uint32_t> m_ScatterDimsToOperandDims; ///< the dimension of input 0 of each entry of an index vector
    uint32_t m_IndexVectorDim = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &StablehloScatterDescriptor::m_Function);
        v("UpdateWindowDims", &StablehloScatterDescriptor::m_UpdateWindowDims);
        v("InsertedWindowDims", &StablehloScatterDescriptor::m_InsertedWindowDims);
        v("ScatterDimsToOperandDims", &StablehloScatterDescriptor::m_ScatterDimsToOperandDims);
        v("IndexVectorDim", &StablehloScatterDescriptor::m_IndexVectorDim);
    }
};

/// EmbeddingLookupSparse (Tenon).
struct EmbeddingLookupSparseDescriptor : detail::Described<EmbeddingLookupSparseDescriptor>
{
    EmbeddingCombiner m_Combiner = EmbeddingCombiner::Sum;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Combiner", &EmbeddingLookupSparseDescriptor::m_Combiner);
    }
};

/// OneHot (Tenon).
struct OneHotDescriptor : detail::Described<OneHotDescriptor>
{
    int32_t m_Axis = -1; ///< the place of the new dimension; negative counts from the end, -1 adds the last one

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &OneHotDescriptor::m_Axis);
    }
};

/// Unique (Tenon).
struct UniqueDescriptor : detail::Described<UniqueDescriptor>
{
    DataType m_IndexType = DataType::Signed32; ///< of output 1: Signed32 or Signed64

    template <typename V>
    static void Visit(V&& v)
    {
        v("IndexType", &UniqueDescriptor::m_IndexType);
    }
};

} // namespace tenon
