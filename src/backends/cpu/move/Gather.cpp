// SPDX-License-Identifier: Apache-2.0
// The layers of CpuAcc that copy slices by index: Gather, GatherNd, and EmbeddingLookup without a change of type.
// Indices are read and checked a few hundred at a time, then their slices are copied by a function for their length.
// The reference kernel is prepared first: it checks shapes.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow GatherTypes[] = {backends::SameType(backends::WholeByteType)};
constexpr backends::TypeRow LookupTypes[] = {
    backends::Types({ref::IndexTypes, backends::WholeByteType}, backends::WholeByteType)};

/// The number of indices that are read at a time.
constexpr size_t MaxIndices = 512;

/// Reads index tuples, checks them and computes their slice numbers, many at a time, by a loop for each index type: a
/// call for each index would take longer than copying a few bytes.
class SliceIndices
{
public:
    /// Input `input` holds tuples of `length` indices, for `length` dimensions of `data` from `dimension` on.
    /// `fromEnd`: negative indices count from the end.
    SliceIndices(const ReshapeArgs& args, size_t input, const TensorShape& data, unsigned int dimension,
                 unsigned int length, bool fromEnd = false);

    /// Loads the slice numbers, row-major, of the `count` tuples from `first` on; there are at most 2^32 slices. Throws
    /// RuntimeException for an index outside of its dimension.
    void Load(const ExecuteArgs& args, size_t first, size_t count, uint32_t* slices) const
    {
        if (!m_Load(*this, args.m_Inputs[m_Input], first, count, slices))
        {
            ThrowOutside(args, first, count);
        }
    }

    /// The same slice numbers: a pointer into the index tensor if it holds exactly these, else to `memory`. Callers may
    /// read them repeatedly while slices are copied: like each input, the tensor must not change during a run.
    const uint32_t* Find(const ExecuteArgs& args, size_t first, size_t count, uint32_t* memory) const
    {
        if (m_IsEachBelow == nullptr)
        {
            Load(args, first, count, memory);
            return memory;
        }
        const uint32_t* const slices = static_cast<const uint32_t*>(args.m_Inputs[m_Input]) + first;
        if (!m_IsEachBelow(slices, count, m_Limit))
        {
            ThrowOutside(args, first, count);
        }
        return slices;
    }

private:
    /// False if an index is outside of its dimension.
    template <typename T>
    static bool LoadAs(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices);
    /// The same for indices that may count from the end.
    template <typename T>
    static bool LoadFromEnd(const SliceIndices& self, const void* indices, size_t first, size_t count,
                            uint32_t* slices);

    void ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const;

    bool (*m_Load)(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices);
    IsEachBelowFunction m_IsEachBelow = nullptr; ///< null if indices have to be converted to slice numbers
    uint32_t m_Limit = 0;                        ///< upper limit of slice numbers
    ref::IndexInput m_Indices;
    size_t m_Input;
    size_t m_Length;
    bool m_FromEnd;
    std::array<size_t, MaxNumOfTensorDimensions> m_Sizes{};
};

SliceIndices::SliceIndices(const ReshapeArgs& args, size_t input, const TensorShape& data, unsigned int dimension,
                           unsigned int length, bool fromEnd)
    : m_Load(fromEnd ? LoadFromEnd<int64_t> : LoadAs<int64_t>), m_Indices(args, input), m_Input(input),
      m_Length(length), m_FromEnd(fromEnd)
{
    switch (args.GetInput(input).GetDataType())
    {
    case DataType::Signed16: m_Load = fromEnd ? LoadFromEnd<int16_t> : LoadAs<int16_t>; break;
    case DataType::Signed32: m_Load = fromEnd ? LoadFromEnd<int32_t> : LoadAs<int32_t>; break;
    default: break;
    }
    for (unsigned int d = 0; d < length; ++d)
    {
        m_Sizes[d] = data[dimension + d];
    }
    if (args.GetInput(input).GetDataType() == DataType::Signed32 && length == 1 && !fromEnd)
    {
        constexpr size_t Max = size_t{1} << 31;
        m_IsEachBelow = ChooseIsEachBelow();
        m_Limit = static_cast<uint32_t>(std::min(m_Sizes[0], Max));
    }
}

template <typename T>
bool SliceIndices::LoadAs(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices)
{
    const size_t length = self.m_Length;
    const T* tuples = static_cast<const T*>(indices) + first * length;
    if (length == 1)
    {
        // Comparisons are avoided, so that vectors of any processor can do it. The upper bits of an index within the
        // dimension, and of the distance to its last index, are 0. A size beyond the range of T allows all indices that
        // are not negative.
        using Wide = std::common_type_t<T, int32_t>;
        using Bits = std::make_unsigned_t<Wide>;
        constexpr uint64_t Upper = uint64_t{1} << (sizeof(Bits) * 8 - 1);
        const auto last = static_cast<Bits>(std::min<uint64_t>(self.m_Sizes[0], Upper) - 1);
        Bits outside = 0;
        for (size_t i = 0; i < count; ++i)
        {
            const auto index = static_cast<Bits>(Wide{tuples[i]});
            outside |= index | (last - index);
            slices[i] = static_cast<uint32_t>(index);
        }
        return outside < Upper;
    }
    bool isInside = true;
    for (size_t i = 0; i < count; ++i, tuples += length)
    {
        uint64_t slice = 0;
        for (size_t d = 0; d < length; ++d)
        {
            const auto index = static_cast<uint64_t>(int64_t{tuples[d]});
            isInside &= index < self.m_Sizes[d];
            slice = slice * self.m_Sizes[d] + index;
        }
        slices[i] = static_cast<uint32_t>(slice);
    }
    return isInside;
}

template <typename T>
bool SliceIndices::LoadFromEnd(const SliceIndices& self, const void* indices, size_t first, size_t count,
                               uint32_t* slices)
{
    const size_t length = self.m_Length;
    const T* tuples = static_cast<const T*>(indices) + first * length;
    bool isInside = true;
    for (size_t i = 0; i < count; ++i, tuples += length)
    {
        uint64_t slice = 0;
        for (size_t d = 0; d < length; ++d)
        {
            const auto index = int64_t{tuples[d]};
            const uint64_t size = self.m_Sizes[d];
            const uint64_t place = static_cast<uint64_t>(index) + (size & static_cast<uint64_t>(index >> 63));
            isInside &= place < size; // negative indices wrap beyond any size
            slice = slice * size + place;
        }
        slices[i] = static_cast<uint32_t>(slice);
    }
    return isInside;
}

void SliceIndices::ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const
{
    for (size_t i = first * m_Length; i < (first + count) * m_Length; ++i)
    {
        m_Indices.ReadChecked(args, i, static_cast<int64_t>(m_Sizes[i % m_Length]),
                              m_FromEnd); // throws for the first invalid index
    }
}

/// The data as [batch, outer, slices of the axis, bytes], the indices as [batch, count].
struct Geometry
{
    size_t m_Outer = 1;
    size_t m_Axis = 1;
    size_t m_Count = 1;
    size_t m_SliceBytes = 1;
    size_t m_Rows = 1; ///< batch * outer

    /// True if slice numbers fit uint32_t.
    bool HasIndices() const { return m_Rows * m_Axis <= std::numeric_limits<uint32_t>::max(); }
};

class Gather
{
public:
    Gather(const Geometry& geometry, const SliceIndices& indices, size_t dataInput)
        : m_Geometry(geometry), m_Indices(indices), m_Data(dataInput),
          m_Copy(ChooseCopyGathered(geometry.m_SliceBytes)),
          m_Group(std::min(geometry.m_Outer > 1 ? geometry.m_Outer : geometry.m_Rows, MaxIndices / geometry.m_Count))
    {
    }

    void operator()(const ExecuteArgs& run) const
    {
        const size_t rowBytes = m_Geometry.m_Count * m_Geometry.m_SliceBytes;
        if (m_Group > 1)
        {
            RunRanges(*run.m_Parallel, m_Geometry.m_Rows, GetGrain(2 * rowBytes),
                      [&](size_t begin, size_t end)
                      { m_Geometry.m_Outer > 1 ? CopyRows(run, begin, end) : CopyBatches(run, begin, end); });
        }
        else
        {
            RunRanges(*run.m_Parallel, m_Geometry.m_Rows * m_Geometry.m_Count, GetGrain(2 * m_Geometry.m_SliceBytes),
                      [&](size_t begin, size_t end) { CopySlices(run, begin, end); });
        }
    }

private:
    using Slices = std::array<uint32_t, MaxIndices>;

    /// Copies rows of a few slices each. Rows of one batch have the same indices: these are read once, and repeated for
    /// all rows that are copied together.
    void CopyRows(const ExecuteArgs& run, size_t begin, size_t end) const
    {
        const Geometry& g = m_Geometry;
        Slices slices;
        size_t loaded = begin / g.m_Outer + 1; // differs from the first batch
        while (begin < end)
        {
            const size_t batch = begin / g.m_Outer;
            if (batch != loaded)
            {
                m_Indices.Load(run, batch * g.m_Count, g.m_Count, slices.data());
                for (size_t i = g.m_Count; i < m_Group * g.m_Count; ++i)
                {
                    slices[i] = slices[i - g.m_Count] + static_cast<uint32_t>(g.m_Axis);
                }
                loaded = batch;
            }
            const size_t rows = std::min({m_Group, end - begin, (batch + 1) * g.m_Outer - begin});
            Copy(run, begin, slices.data(), rows * g.m_Count, begin * g.m_Count);
            begin += rows;
        }
    }

    /// Copies rows of a few slices each. Each row has its own indices.
    void CopyBatches(const ExecuteArgs& run, size_t begin, size_t end) const
    {
        const size_t count = m_Geometry.m_Count;
        Slices slices;
        while (begin < end)
        {
            const size_t rows = std::min(m_Group, end - begin);
            m_Indices.Load(run, begin * count, rows * count, slices.data());
            for (size_t row = 1; row < rows; ++row)
            {
                for (size_t i = 0; i < count; ++i)
                {
                    slices[row * count + i] += static_cast<uint32_t>(row * m_Geometry.m_Axis);
                }
            }
            Copy(run, begin, slices.data(), rows * count, begin * count);
            begin += rows;
        }
    }

    /// Copies rows of any number of slices.
    void CopySlices(const ExecuteArgs& run, size_t begin, size_t end) const
    {
        const Geometry& g = m_Geometry;
        Slices slices;
        while (begin < end)
        {
            const size_t row = begin / g.m_Count;
            const size_t inRow = begin % g.m_Count;
            const size_t count = std::min({MaxIndices, end - begin, g.m_Count - inRow});
            const uint32_t* const found =
                m_Indices.Find(run, row / g.m_Outer * g.m_Count + inRow, count, slices.data());
            Copy(run, row, found, count, begin);
            begin += count;
        }
    }

    /// `to`: the number of the first output slice.
    void Copy(const ExecuteArgs& run, size_t row, const uint32_t* slices, size_t count, size_t to) const
    {
        const size_t bytes = m_Geometry.m_SliceBytes;
        m_Copy(run.GetInput<std::byte>(m_Data) + row * m_Geometry.m_Axis * bytes,
               (m_Geometry.m_Rows - row) * m_Geometry.m_Axis, slices, count, bytes,
               run.GetOutput<std::byte>(0) + to * bytes);
    }

    Geometry m_Geometry;
    SliceIndices m_Indices;
    size_t m_Data; ///< index of the input
    CopyGatheredFunction m_Copy;
    size_t m_Group; ///< rows that are copied together; at most 1: each row is copied alone, in chunks if it is long
};

Prepared RefineGather(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& indices = args.GetInput(1).GetShape();
    const auto& descriptor = args.GetDescriptor<GatherDescriptor>();
    const auto fromFront = [](int number, unsigned int rank)
    { return static_cast<unsigned int>(number < 0 ? number + static_cast<int>(rank) : number); };
    const unsigned int axis = fromFront(descriptor.m_Axis, data.GetNumDimensions());
    const unsigned int batchDims = fromFront(descriptor.m_BatchDims, indices.GetNumDimensions());
    Geometry geometry;
    geometry.m_Outer = ref::CountElements(data, batchDims, axis);
    geometry.m_Axis = data[axis];
    geometry.m_Count = ref::CountElements(indices, batchDims, indices.GetNumDimensions());
    geometry.m_SliceBytes = ref::CountElements(data, axis + 1, data.GetNumDimensions()) *
                            ref::GetMovedBytes(args.GetInput(0).GetDataType());
    geometry.m_Rows = ref::CountElements(data, 0, axis);
    if (!geometry.HasIndices())
    {
        return Prepared::Declined("slices are taken out of nothing");
    }
    return Gather(geometry, SliceIndices(args, 1, data, axis, 1, descriptor.m_NegativeIndices), 0);
}

Prepared RefineGatherNd(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& indices = args.GetInput(1).GetShape();
    const auto& descriptor = args.GetDescriptor<GatherNdDescriptor>();
    const unsigned int batch = descriptor.m_BatchDims;
    const unsigned int length = indices[indices.GetNumDimensions() - 1];
    if (args.GetOutput(0).GetNumElements() == 0 || length == 0)
    {
        return Prepared::Declined("it is empty, or takes the data as a whole");
    }
    Geometry geometry;
    geometry.m_Axis = ref::CountElements(data, batch, batch + length);
    geometry.m_Count = ref::CountElements(indices, batch, indices.GetNumDimensions() - 1);
    geometry.m_SliceBytes = ref::CountElements(data, batch + length, data.GetNumDimensions()) *
                            ref::GetMovedBytes(args.GetInput(0).GetDataType());
    geometry.m_Rows = ref::CountElements(data, 0, batch);
    if (!geometry.HasIndices())
    {
        return Prepared::Declined("slices are taken out of nothing");
    }
    return Gather(geometry, SliceIndices(args, 1, data, batch, length, descriptor.m_NegativeIndices), 0);
}

Prepared RefineLookup(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty, and only the indices are checked");
    }
    const TensorShape& table = args.GetInput(1).GetShape();
    Geometry geometry;
    geometry.m_Axis = table[0];
    geometry.m_Count = args.GetInput(0).GetNumElements();
    geometry.m_SliceBytes =
        ref::CountElements(table, 1, table.GetNumDimensions()) * ref::GetMovedBytes(args.GetInput(1).GetDataType());
    return Gather(geometry, SliceIndices(args, 0, table, 0, 1), 1);
}

SupportResult CheckLookup(const LayerView& layer)
{
    if (layer.GetInput(1).GetDataType() != layer.GetOutput(0).GetDataType())
    {
        return SupportResult::No(SupportCode::UnsupportedType, "slices are converted, which is no copy");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuGatherKernel = {
    .m_Name = "CpuGather", .m_Types = GatherTypes, .m_Reference = &ref::RefGatherKernel, .m_Refine = RefineGather};
extern const backends::Kernel CpuGatherNdKernel = {.m_Name = "CpuGatherNd",
                                                   .m_Types = GatherTypes,
                                                   .m_Reference = &ref::RefGatherNdKernel,
                                                   .m_Refine = RefineGatherNd};
extern const backends::Kernel CpuEmbeddingLookupKernel = {.m_Name = "CpuEmbeddingLookup",
                                                          .m_Types = LookupTypes,
                                                          .m_Check = CheckLookup,
                                                          .m_Reference = &ref::RefEmbeddingLookupKernel,
                                                          .m_Refine = RefineLookup};

} // namespace tenon::cpu
