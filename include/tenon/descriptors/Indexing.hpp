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

    int32_t m_Axis = 0;             ///< negative counts from the end
    int32_t m_BatchDims = 0;        ///< Tenon: leading dimensions that both inputs share
    bool m_NegativeIndices = false; ///< Tenon: indices from -size on count from the end; else they are out of range

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &GatherDescriptor::m_Axis);
        v("BatchDims", &GatherDescriptor::m_BatchDims);
        v("NegativeIndices", &GatherDescriptor::m_NegativeIndices);
    }
};

/// GatherElements (Tenon): an element of input 0 for each index of input 1, at the place of the index but for one axis,
/// where the index says the place. out[i][j][k] = data[i][indices[i][j][k]][k] along axis 1. Negative indices count
/// from the end.
struct GatherElementsDescriptor : detail::Described<GatherElementsDescriptor>
{
    GatherElementsDescriptor() = default;
    GatherElementsDescriptor(int32_t axis) : m_Axis(axis) {}

    int32_t m_Axis = 0; ///< negative counts from the end

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &GatherElementsDescriptor::m_Axis);
    }
};

/// GatherNd: takes slices of input 0 by index tuples of input 1.
struct GatherNdDescriptor : detail::Described<GatherNdDescriptor>
{
    uint32_t m_BatchDims = 0;       ///< Tenon: leading dimensions that both inputs share
    bool m_NegativeIndices = false; ///< Tenon: indices from -size on count from the end; else they are out of range

    template <typename V>
    static void Visit(V&& v)
    {
        v("BatchDims", &GatherNdDescriptor::m_BatchDims);
        v("NegativeIndices", &GatherNdDescriptor::m_NegativeIndices);
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
    bool m_InputEnabled = true;     ///< input 0 is a tensor to update; else it holds the output's shape
    int32_t m_Axis = 0;             ///< only 0
    bool m_AxisEnabled = false;     ///< only false
    bool m_NegativeIndices = false; ///< Tenon: indices from -size on count from the end; else they are out of range

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ScatterNdDescriptor::m_Function);
        v("InputEnabled", &ScatterNdDescriptor::m_InputEnabled);
        v("Axis", &ScatterNdDescriptor::m_Axis);
        v("AxisEnabled", &ScatterNdDescriptor::m_AxisEnabled);
        v("NegativeIndices", &ScatterNdDescriptor::m_NegativeIndices);
    }
};

/// ScatterElements (Tenon): input 0 with the elements of input 2 put in, one after the other. Each goes to its own
/// place but for one axis, where input 1 says the place: out[i][indices[i][j][k]][k] = updates[i][j][k] along axis 1.
/// Negative indices count from the end.
struct ScatterElementsDescriptor : detail::Described<ScatterElementsDescriptor>
{
    ScatterElementsDescriptor() = default;
    ScatterElementsDescriptor(int32_t axis, ScatterNdFunction function = ScatterNdFunction::Update)
        : m_Axis(axis), m_Function(function)
    {
    }

    int32_t m_Axis = 0; ///< negative counts from the end
    ScatterNdFunction m_Function = ScatterNdFunction::Update;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &ScatterElementsDescriptor::m_Axis);
        v("Function", &ScatterElementsDescriptor::m_Function);
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
    bool m_NegativeIndices = false; ///< indices from -depth on count from the end; else there is no place for them

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &OneHotDescriptor::m_Axis);
        v("NegativeIndices", &OneHotDescriptor::m_NegativeIndices);
    }
};

/// TopK (Tenon).
struct TopKDescriptor : detail::Described<TopKDescriptor>
{
    int32_t m_Axis = -1;                       ///< negative counts from the end
    bool m_Largest = true;                     ///< the largest elements, largest first; else the smallest
    DataType m_IndexType = DataType::Signed32; ///< of output 1 where it was not declared: Signed32 or Signed64

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &TopKDescriptor::m_Axis);
        v("Largest", &TopKDescriptor::m_Largest);
        v("IndexType", &TopKDescriptor::m_IndexType);
    }
};

/// Unique (Tenon): the input must be flat, unless there is an axis.
struct UniqueDescriptor : detail::Described<UniqueDescriptor>
{
    DataType m_IndexType = DataType::Signed32; ///< of all outputs but the values: Signed32 or Signed64
    bool m_Sorted = false;                     ///< values ascend, NaN last; else they come as they first occur
    bool m_AxisEnabled = false;                ///< values are the slices along m_Axis, which sort as lists of elements
    int32_t m_Axis = 0;                        ///< negative counts from the end
    bool m_FirstsAndCounts = false;            ///< output 2 and 3: where each value first occurs, and how often

    uint32_t GetNumOutputs() const { return m_FirstsAndCounts ? 4 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("IndexType", &UniqueDescriptor::m_IndexType);
        v("Sorted", &UniqueDescriptor::m_Sorted);
        v("AxisEnabled", &UniqueDescriptor::m_AxisEnabled);
        v("Axis", &UniqueDescriptor::m_Axis);
        v("FirstsAndCounts", &UniqueDescriptor::m_FirstsAndCounts);
    }
};

} // namespace tenon
