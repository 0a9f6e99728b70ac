// SPDX-License-Identifier: Apache-2.0
// PoolingNd: ONNX's MaxPool, AveragePool and LpPool of [N, C, spatial...]. The window of output o has the elements at o
// * stride - padding before + k * dilation of each spatial dimension that lie in the input. The result is Max the
//   largest element, ignoring NaN as in all of Tenon's pools Average the sum, divided by the number of elements, or by
//   their number in the input and its paddings Lp the p-th root of the sum of |x|^p A window without elements gives the
//   lowest value of the type (Max) or 0. The second output holds the index of the first of the largest elements.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "backends/reference/kernels/PoolGeometry.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet MaxTypes =
    backends::FloatTypes | backends::SignedTypes | backends::QuantizedTypes |
    backends::TypeSet{DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};
constexpr backends::TypeRow PoolingNdTypes[] = {backends::SameType(MaxTypes)};

SupportResult CheckPoolingNd(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<PoolingNdDescriptor>();
    const DataType type = layer.GetInput(0).GetDataType();
    if (descriptor.m_Function != PoolingNdFunction::Max && !backends::FloatTypes.Has(type))
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string("Average and Lp are of floats, not of ") + GetDataTypeName(type));
    }
    return layer.GetNumOutputs() > 1 ? CheckSameType(layer.GetOutput(1), "output 1", DataType::Signed64)
                                     : SupportResult::Yes();
}

/// The number of windows that are reduced at once: neighbours along the last dimension.
constexpr size_t Chunk = 256;

/// Up to Chunk windows of one output row.
class WindowRow
{
public:
    /// The windows of row `row` of a plane, from its element `first` on.
    WindowRow(const PoolGeometry& geometry, size_t row, size_t first) : m_Geometry(geometry)
    {
        const std::vector<PoolDimension>& dimensions = geometry.m_Dimensions;
        m_Last = dimensions.back().m_Reaches.data() + first;
        m_NumWindows = std::min(Chunk, dimensions.back().m_Reaches.size() - first);
        for (size_t i = dimensions.size() - 1; i-- > 0;)
        {
            m_Reaches[i] = dimensions[i].m_Reaches[row % static_cast<size_t>(dimensions[i].m_Output)];
            row /= static_cast<size_t>(dimensions[i].m_Output);
            m_Count *= m_Reaches[i].m_Count;
            m_Counted *= m_Reaches[i].m_Counted;
        }
    }

    size_t GetNumWindows() const { return m_NumWindows; }
    /// The number of elements of a window.
    int64_t GetCount(size_t window) const { return m_Count * m_Last[window].m_Count; }
    /// The same with elements in paddings.
    int64_t GetCounted(size_t window) const { return m_Counted * m_Last[window].m_Counted; }

    /// visit(window, index in the plane) for each element of each window.
    template <typename Visit>
    void Run(const Visit& visit) const
    {
        RunDimension(0, 0, visit);
    }

private:
    template <typename Visit>
    void RunDimension(size_t i, int64_t offset, const Visit& visit) const
    {
        const PoolDimension& dimension = m_Geometry.m_Dimensions[i];
        if (i + 1 == m_Geometry.m_Dimensions.size())
        {
            for (size_t window = 0; window < m_NumWindows; ++window)
            {
                int64_t at = offset + m_Last[window].m_First;
                for (int64_t k = 0; k < m_Last[window].m_Count; ++k, at += dimension.m_Dilation)
                {
                    visit(window, at);
                }
            }
            return;
        }
        offset += m_Reaches[i].m_First * dimension.m_Stride;
        for (int64_t k = 0; k < m_Reaches[i].m_Count; ++k, offset += dimension.m_Dilation * dimension.m_Stride)
        {
            RunDimension(i + 1, offset, visit);
        }
    }

    const PoolGeometry& m_Geometry;
    const PoolReach* m_Last = nullptr;
    size_t m_NumWindows = 0;
    std::array<PoolReach, MaxNumOfTensorDimensions> m_Reaches{}; ///< reaches of all dimensions except the last one
    int64_t m_Count = 1;
    int64_t m_Counted = 1;
};

/// `index` of a plane, counted with the first spatial dimension running fastest.
int64_t ToColumnMajor(const PoolGeometry& geometry, int64_t index)
{
    int64_t result = 0;
    for (const PoolDimension& dimension : geometry.m_Dimensions)
    {
        result += index / dimension.m_Stride % dimension.m_Input * dimension.m_Column;
    }
    return result;
}

/// Runs body(first input element of a plane, output element of the first window, windows) for all windows.
template <typename Body>
void ForEachRow(const ExecuteArgs& run, const PoolGeometry& geometry, const Body& body)
{
    const size_t width = geometry.m_Dimensions.back().m_Reaches.size();
    const size_t rows = geometry.m_OutputPlane / width; // rows of a plane
    const auto part = [&](size_t begin, size_t end)
    {
        for (size_t row = begin; row < end; ++row)
        {
            for (size_t first = 0; first < width; first += Chunk)
            {
                body(row / rows * geometry.m_InputPlane, row * width + first, WindowRow(geometry, row % rows, first));
            }
        }
    };
    constexpr size_t Grain = 1024; // windows: some ten microseconds
    run.m_Parallel->Run(geometry.m_Planes * rows, std::max<size_t>(1, Grain / width), std::ref(part));
}

template <typename T>
T Lowest()
{
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
}

template <typename T>
backends::Prepared MakeMax(std::shared_ptr<const PoolGeometry> geometry, bool hasIndices, bool isColumnMajor)
{
    return [geometry = std::move(geometry), hasIndices, isColumnMajor](const ExecuteArgs& run)
    {
        using C = ComputeType<T>;
        int64_t* const indices = hasIndices ? run.GetOutput<int64_t>(1) : nullptr;
        ForEachRow(run, *geometry,
                   [&](size_t plane, size_t element, const WindowRow& row)
                   {
                       const T* const in = run.GetInput<T>(0) + plane;
                       T* const out = run.GetOutput<T>(0) + element;
                       std::array<C, Chunk> best;
                       std::array<int64_t, Chunk> places;
                       std::fill_n(best.begin(), row.GetNumWindows(), Lowest<C>());
                       std::fill_n(places.begin(), row.GetNumWindows(), -1);
                       row.Run(
                           [&](size_t window, int64_t at)
                           {
                               const C value = static_cast<C>(in[at]);
                               if (places[window] < 0 || value > best[window])
                               {
                                   best[window] = value == value ? value : best[window];
                                   places[window] = at;
                               }
                           });
                       for (size_t i = 0; i < row.GetNumWindows(); ++i)
                       {
                           out[i] = static_cast<T>(best[i]);
                           if (indices != nullptr)
                           {
                               const int64_t inPlane = isColumnMajor ? ToColumnMajor(*geometry, places[i]) : places[i];
                               indices[element + i] = places[i] < 0 ? 0 : static_cast<int64_t>(plane) + inPlane;
                           }
                       }
                   });
    };
}

/// Runs add(sum, element) for all elements of a window; the output is finish(sum, windows, window).
template <typename T, typename Add, typename Finish>
backends::Prepared MakeSum(std::shared_ptr<const PoolGeometry> geometry, const Add& add, const Finish& finish)
{
    return [geometry = std::move(geometry), add, finish](const ExecuteArgs& run)
    {
        ForEachRow(run, *geometry,
                   [&](size_t plane, size_t element, const WindowRow& row)
                   {
                       const T* const in = run.GetInput<T>(0) + plane;
                       T* const out = run.GetOutput<T>(0) + element;
                       std::array<double, Chunk> sums;
                       std::fill_n(sums.begin(), row.GetNumWindows(), 0.0);
                       row.Run([&](size_t window, int64_t at) { add(sums[window], static_cast<double>(in[at])); });
                       for (size_t i = 0; i < row.GetNumWindows(); ++i)
                       {
                           out[i] = static_cast<T>(finish(sums[i], row, i));
                       }
                   });
    };
}

template <typename T>
backends::Prepared MakeAverage(std::shared_ptr<const PoolGeometry> geometry, bool countsPaddings)
{
    return MakeSum<T>(
        std::move(geometry), [](double& sum, double x) { sum += x; },
        [countsPaddings](double sum, const WindowRow& row, size_t window)
        {
            const int64_t count = countsPaddings ? row.GetCounted(window) : row.GetCount(window);
            return count == 0 ? 0.0 : sum / static_cast<double>(count);
        });
}

template <typename T>
backends::Prepared MakeLp(std::shared_ptr<const PoolGeometry> geometry, double p)
{
    return MakeSum<T>(
        std::move(geometry),
        [p](double& sum, double x) { sum += p == 1.0   ? std::abs(x)
                                            : p == 2.0 ? x * x
                                                       : std::pow(std::abs(x), p); },
        [p](double sum, const WindowRow&, size_t) {
            return p == 1.0 ? sum : p == 2.0 ? std::sqrt(sum) : std::pow(sum, 1.0 / p);
        });
}

backends::Prepared PreparePoolingNd(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& pool = args.GetDescriptor<PoolingNdDescriptor>();
    auto geometry = std::make_shared<const PoolGeometry>(MakePoolGeometry(args));
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const DataType type = args.GetInput(0).GetDataType();
    if (pool.m_Function == PoolingNdFunction::Max)
    {
        return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                            uint32_t, uint64_t>(type,
                                                [&](auto tag)
                                                {
                                                    return MakeMax<typename decltype(tag)::Type>(
                                                        std::move(geometry), args.m_Outputs.size() > 1,
                                                        pool.m_IndicesColumnMajor);
                                                });
    }
    return DispatchType<float, double, Half, BFloat16>(
        type,
        [&](auto tag)
        {
            using T = typename decltype(tag)::Type;
            return pool.m_Function == PoolingNdFunction::Lp
                       ? MakeLp<T>(std::move(geometry), pool.m_P)
                       : MakeAverage<T>(std::move(geometry), pool.m_PaddingMethod == PaddingMethod::IgnoreValue);
        });
}

} // namespace

extern const backends::Kernel RefPoolingNdKernel = {"RefPoolingNd", PoolingNdTypes, PreparePoolingNd, CheckPoolingNd};

} // namespace tenon::ref
