// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: out[indices[i]] = in[i] in flat elements, and 0 elsewhere, as in ONNX; or indices are those within the
// window of in[i], as in MediaPipe. If an index occurs twice, the last element counts.
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet UnpooledTypes =
    backends::FloatTypes | backends::SignedTypes |
    backends::TypeSet{DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};
constexpr backends::TypeRow MaxUnpoolTypes[] = {backends::SameType(UnpooledTypes)};

SupportResult CheckMaxUnpool(const LayerView& layer)
{
    return CheckSameType(layer.GetInput(1), "input 1", DataType::Signed64);
}

/// The windows of the output that the elements of a plane of the input are put in.
class UnpoolWindows
{
public:
    explicit UnpoolWindows(const ReshapeArgs& args)
    {
        const auto& pool = args.GetDescriptor<MaxUnpoolDescriptor>();
        const TensorShape& input = args.GetInput(0).GetShape();
        const TensorShape& output = args.GetOutput(0).GetShape();
        const size_t spatial = pool.m_PoolSizes.size();
        const bool fits = input.GetNumDimensions() == spatial + 2 && output.GetNumDimensions() == spatial + 2 &&
                          input[0] == output[0] && input[1] == output[1] && pool.m_Strides.size() == spatial &&
                          pool.m_PadsBefore.size() == spatial;
        if (!fits)
        {
            throw LayerValidationException("MaxUnpool of " + input.ToString() + " to " + output.ToString() +
                                           ": both must be [N, C, spatial...] and differ in spatial dimensions only, "
                                           "with a pool size for each of these");
        }
        for (unsigned int i = 0; i < spatial; ++i)
        {
            m_Dimensions.push_back(
                {input[i + 2], output[i + 2], pool.m_PoolSizes[i], pool.m_Strides[i], pool.m_PadsBefore[i]});
            m_InputPlane *= input[i + 2];
            m_OutputPlane *= output[i + 2];
        }
    }

    size_t GetInputPlane() const { return m_InputPlane; } ///< elements
    size_t GetOutputPlane() const { return m_OutputPlane; }

    /// The place in the output's plane of element `element` of the input's plane; negative if it is outside.
    int64_t Find(size_t element, int64_t index) const
    {
        auto rest = static_cast<int64_t>(element);
        int64_t place = 0;
        int64_t step = 1;
        for (size_t i = m_Dimensions.size(); i-- > 0;)
        {
            const Dimension& d = m_Dimensions[i];
            const int64_t start = rest % d.m_Input * d.m_Stride - d.m_Pad;
            const int64_t inWindow = i == 0 ? index : index % d.m_Size;
            if (inWindow < -start || inWindow >= d.m_Output - start)
            {
                return -1;
            }
            place += (start + inWindow) * step;
            step *= d.m_Output;
            rest /= d.m_Input;
            index /= d.m_Size;
        }
        return place;
    }

private:
    struct Dimension
    {
        int64_t m_Input;
        int64_t m_Output;
        int64_t m_Size;
        int64_t m_Stride;
        int64_t m_Pad;
    };

    std::vector<Dimension> m_Dimensions;
    size_t m_InputPlane = 1;
    size_t m_OutputPlane = 1;
};

backends::Prepared PrepareInWindows(const ReshapeArgs& args)
{
    return DispatchMoved(
        args.GetInput(0).GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using T = typename decltype(tag)::Type;
            return [windows = UnpoolWindows(args), indices = IndexInput(args, 1),
                    elements = args.GetInput(0).GetNumElements(),
                    outputs = args.GetOutput(0).GetNumElements()](const ExecuteArgs& run)
            {
                const T* const in = run.GetInput<T>(0);
                T* const out = run.GetOutput<T>(0);
                std::fill_n(out, outputs, T{});
                for (size_t i = 0; i < elements; ++i)
                {
                    const int64_t place = windows.Find(i % windows.GetInputPlane(), indices.ReadAny(run, i));
                    if (place >= 0)
                    {
                        out[i / windows.GetInputPlane() * windows.GetOutputPlane() + static_cast<size_t>(place)] =
                            in[i];
                    }
                }
            };
        });
}

backends::Prepared PrepareMaxUnpool(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t elements = args.GetInput(0).GetNumElements();
    RequireElements(args.GetInput(1), "input 1", elements);
    if (args.GetDescriptor<MaxUnpoolDescriptor>().m_IndicesInWindow)
    {
        return PrepareInWindows(args);
    }
    return DispatchMoved(args.GetInput(0).GetDataType(),
                         [&](auto tag) -> backends::Prepared
                         {
                             using T = typename decltype(tag)::Type;
                             return [elements, indices = IndexInput(args, 1),
                                     outputs = args.GetOutput(0).GetNumElements()](const ExecuteArgs& run)
                             {
                                 const T* const in = run.GetInput<T>(0);
                                 T* const out = run.GetOutput<T>(0);
                                 std::fill_n(out, outputs, T{});
                                 for (size_t i = 0; i < elements; ++i)
                                 {
                                     out[indices.Read(run, i, 0, static_cast<int64_t>(outputs))] = in[i];
                                 }
                             };
                         });
}

} // namespace

extern const backends::Kernel RefMaxUnpoolKernel = {"RefMaxUnpool", MaxUnpoolTypes, PrepareMaxUnpool, CheckMaxUnpool};

} // namespace tenon::ref
