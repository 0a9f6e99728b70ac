// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that join tensors or cut boxes out of them.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

/// Concat: joins inputs in order along m_ConcatAxis; static_cast<unsigned int>(-1) and the like count from the end.
/// View origins are optional: all zero (the default), they follow from shapes; others must agree with the axis.
struct TENON_API OriginsDescriptor : detail::Described<OriginsDescriptor>
{
    OriginsDescriptor() = default;
    /// Throws InvalidArgumentException if numDimensions is above MaxNumOfTensorDimensions.
    OriginsDescriptor(uint32_t numViews, uint32_t numDimensions = 4);

    /// Status::Failure, and a message in the log, for a view or coordinate out of range.
    Status SetViewOriginCoord(uint32_t view, uint32_t coord, uint32_t value);
    uint32_t GetNumViews() const { return m_NumViews; }
    uint32_t GetNumDimensions() const { return m_NumDimensions; }
    /// The coordinates of one view, GetNumDimensions() of them. Throws InvalidArgumentException out of range.
    const uint32_t* GetViewOrigin(uint32_t view) const;
    void SetConcatAxis(unsigned int concatAxis) { m_ConcatAxis = concatAxis; }
    unsigned int GetConcatAxis() const { return m_ConcatAxis; }
    /// Whether any origin is not zero.
    bool HasOrigins() const;
    /// View i gets the origin of the former view newOrdering[i]. Throws InvalidArgumentException unless `newOrdering`
    /// has one entry for each view and none is out of range.
    void ReorderOrigins(const unsigned int* newOrdering, unsigned int numNewOrdering)
    {
        if (numNewOrdering != m_NumViews)
        {
            throw InvalidArgumentException("OriginsDescriptor::ReorderOrigins: " + std::to_string(numNewOrdering) +
                                           " entries for " + std::to_string(m_NumViews) + " views");
        }
        std::vector<uint32_t> reordered;
        reordered.reserve(m_ViewOrigins.size());
        for (unsigned int i = 0; i < numNewOrdering; ++i)
        {
            const uint32_t* const origin = GetViewOrigin(newOrdering[i]);
            reordered.insert(reordered.end(), origin, origin + m_NumDimensions);
        }
        m_ViewOrigins = std::move(reordered);
    }
    uint32_t GetNumInputs() const { return m_NumViews; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("ConcatAxis", &OriginsDescriptor::m_ConcatAxis);
        v("NumViews", &OriginsDescriptor::m_NumViews);
        v("NumDimensions", &OriginsDescriptor::m_NumDimensions);
        v("ViewOrigins", &OriginsDescriptor::m_ViewOrigins);
    }

private:
    unsigned int m_ConcatAxis = 1;
    uint32_t m_NumViews = 0;
    uint32_t m_NumDimensions = 0;
    std::vector<uint32_t> m_ViewOrigins; ///< view by view
};
using ConcatDescriptor = OriginsDescriptor;
using MergerDescriptor = OriginsDescriptor;

/// Splitter: each output is the box of its view's origin and size.
/// With m_ParametersAsInputs input 1 is the axis, along which the views are equal parts, one after the other; with
/// m_SizesAsInput input 2 holds the size of each part (one may be -1: the rest).
struct TENON_API ViewsDescriptor : detail::Described<ViewsDescriptor>
{
    ViewsDescriptor() = default;
    ViewsDescriptor(uint32_t numViews, uint32_t numDimensions = 4);

    Status SetViewOriginCoord(uint32_t view, uint32_t coord, uint32_t value);
    Status SetViewSize(uint32_t view, uint32_t coord, uint32_t value);
    void SetAxis(int32_t axis);
    uint32_t GetNumViews() const { return m_Origins.GetNumViews(); }
    uint32_t GetNumDimensions() const { return m_Origins.GetNumDimensions(); }
    const uint32_t* GetViewOrigin(uint32_t view) const { return m_Origins.GetViewOrigin(view); }
    /// The sizes of one view. Throws InvalidArgumentException out of range.
    const uint32_t* GetViewSizes(uint32_t view) const;
    const OriginsDescriptor& GetOrigins() const { return m_Origins; }
    bool HasAxis() const { return m_IsAxisSet; }
    int32_t GetAxis() const { return m_Axis; }
    uint32_t GetNumInputs() const { return m_SizesAsInput ? 3 : (m_ParametersAsInputs ? 2 : 1); }
    uint32_t GetNumOutputs() const { return GetNumViews(); }

    bool m_ParametersAsInputs = false;
    bool m_SizesAsInput = false; ///< Tenon: with m_ParametersAsInputs only

    template <typename V>
    static void Visit(V&& v)
    {
        v("Origins", &ViewsDescriptor::m_Origins);
        v("ViewSizes", &ViewsDescriptor::m_ViewSizes);
        v("IsAxisSet", &ViewsDescriptor::m_IsAxisSet);
        v("Axis", &ViewsDescriptor::m_Axis);
        v("ParametersAsInputs", &ViewsDescriptor::m_ParametersAsInputs);
        v("SizesAsInput", &ViewsDescriptor::m_SizesAsInput);
    }

private:
    OriginsDescriptor m_Origins;
    std::vector<uint32_t> m_ViewSizes; ///< view by view
    bool m_IsAxisSet = false;
    int32_t m_Axis = 0;
};
using SplitterDescriptor = ViewsDescriptor;

/// Stack: joins inputs along a new axis.
struct StackDescriptor : detail::Described<StackDescriptor>
{
    StackDescriptor() = default;
    StackDescriptor(uint32_t axis, uint32_t numInputs, const TensorShape& inputShape)
        : m_Axis(axis), m_NumInputs(numInputs), m_InputShape(inputShape)
    {
    }

    uint32_t m_Axis = 0; ///< axis of the output; static_cast<uint32_t>(-1) and the like count from the end
    uint32_t m_NumInputs = 0;
    TensorShape m_InputShape; ///< optional: the shape that all inputs must have

    uint32_t GetNumInputs() const { return m_NumInputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &StackDescriptor::m_Axis);
        v("NumInputs", &StackDescriptor::m_NumInputs);
        v("InputShape", &StackDescriptor::m_InputShape);
    }
};

/// Slice: the box at m_Begin of m_Size.
/// With m_ParametersAsInputs inputs 1 and 2 are begin and size (-1: to the end).
struct SliceDescriptor : detail::Described<SliceDescriptor>
{
    SliceDescriptor() = default;
    SliceDescriptor(const std::vector<unsigned int>& begin, const std::vector<unsigned int>& size)
        : m_Begin(begin), m_Size(size)
    {
    }

    std::vector<unsigned int> m_Begin;
    std::vector<unsigned int> m_Size;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Begin", &SliceDescriptor::m_Begin);
        v("Size", &SliceDescriptor::m_Size);
        v("ParametersAsInputs", &SliceDescriptor::m_ParametersAsInputs);
    }
};

/// StridedSlice: as in TFLite and NumPy, with masks.
/// With m_ParametersAsInputs inputs 1, 2 and 3 are begin, end and stride.
struct StridedSliceDescriptor : detail::Described<StridedSliceDescriptor>
{
    StridedSliceDescriptor() = default;
    StridedSliceDescriptor(const std::vector<int>& begin, const std::vector<int>& end, const std::vector<int>& stride)
        : m_Begin(begin), m_End(end), m_Stride(stride)
    {
    }

    std::vector<int> m_Begin;
    std::vector<int> m_End;
    std::vector<int> m_Stride;
    int32_t m_BeginMask = 0;      ///< bit i stands for entry i
    int32_t m_EndMask = 0;        ///< bit i stands for entry i
    int32_t m_ShrinkAxisMask = 0; ///< bit i stands for entry i
    int32_t m_EllipsisMask = 0;   ///< bit i stands for entry i
    int32_t m_NewAxisMask = 0;    ///< bit i stands for entry i
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_Offset = false; ///< Tenon: ends are relative to begins, as TFLite's `offset`
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 4 : 1; }

    /// The index in dimension `axis` of an input where the slice starts, and the one before which it ends (-1: behind
    /// index 0, for negative strides), with masks and negative indices resolved and kept within the dimension. For
    /// descriptors without ellipsis and new axes: entry i is of dimension i. m_Offset counts for the end.
    /// Both throw InvalidArgumentException for an axis that descriptor or shape do not have.
    int GetStartForAxis(const TensorShape& inputShape, unsigned int axis) const
    {
        const int size = GetSizeOfAxis(inputShape, axis);
        int start = m_Begin[axis];
        if (((m_BeginMask >> axis) & 1) != 0)
        {
            start = m_Stride[axis] > 0 ? 0 : size - 1;
        }
        start = start < 0 ? start + size : start;
        return start >= size ? (size > 0 ? size - 1 : 0) : start < 0 ? 0 : start;
    }
    int GetStopForAxis(const TensorShape& inputShape, unsigned int axis, int startForAxis) const
    {
        const int size = GetSizeOfAxis(inputShape, axis);
        if (((m_ShrinkAxisMask >> axis) & 1) != 0)
        {
            return startForAxis + 1;
        }
        const bool isForward = m_Stride[axis] > 0;
        if (((m_EndMask >> axis) & 1) != 0)
        {
            return isForward ? size : -1;
        }
        int64_t stop = int64_t{m_End[axis]} + (m_Offset ? startForAxis : 0);
        stop = stop < 0 ? stop + size : stop;
        const int lowest = isForward ? 0 : -1;
        const int highest = isForward ? size : size - 1;
        return stop < lowest ? lowest : stop > highest ? highest : static_cast<int>(stop);
    }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Begin", &StridedSliceDescriptor::m_Begin);
        v("End", &StridedSliceDescriptor::m_End);
        v("Stride", &StridedSliceDescriptor::m_Stride);
        v("BeginMask", &StridedSliceDescriptor::m_BeginMask);
        v("EndMask", &StridedSliceDescriptor::m_EndMask);
        v("ShrinkAxisMask", &StridedSliceDescriptor::m_ShrinkAxisMask);
        v("EllipsisMask", &StridedSliceDescriptor::m_EllipsisMask);
        v("NewAxisMask", &StridedSliceDescriptor::m_NewAxisMask);
        v("DataLayout", &StridedSliceDescriptor::m_DataLayout);
        v("Offset", &StridedSliceDescriptor::m_Offset);
        v("ParametersAsInputs", &StridedSliceDescriptor::m_ParametersAsInputs);
    }

private:
    int GetSizeOfAxis(const TensorShape& inputShape, unsigned int axis) const
    {
        if (axis >= m_Begin.size() || axis >= m_End.size() || axis >= m_Stride.size() || m_Stride[axis] == 0)
        {
            throw InvalidArgumentException("StridedSliceDescriptor: begin, end or stride has no entry for axis " +
                                           std::to_string(axis) + ", or the stride is zero");
        }
        return static_cast<int>(inputShape[axis]);
    }
};

namespace detail
{
TENON_API OriginsDescriptor MakeConcatDescriptor(const std::vector<TensorShape>& shapes, unsigned int axis);
}

/// Sets up Concat's descriptor from the shapes [first, last) joined along `concatenationDimension`.
/// Throws InvalidArgumentException when the shapes do not fit.
template <typename TensorShapeIt>
OriginsDescriptor CreateDescriptorForConcatenation(TensorShapeIt first, TensorShapeIt last,
                                                   unsigned int concatenationDimension)
{
    return detail::MakeConcatDescriptor(std::vector<TensorShape>(first, last), concatenationDimension);
}

} // namespace tenon
