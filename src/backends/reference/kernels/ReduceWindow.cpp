// SPDX-License-Identifier: Apache-2.0
// ReduceWindow: windows that slide over every dimension, each reduced to one element. Tensors with a scale are
// processed as the stored integers, as in TFLite.
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/BinaryOperations.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/IndexWalk.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <functional>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow ReduceWindowTypes[] = {
    backends::SameType({DataType::Float16, DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Signed8,
                        DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8,
                        DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64, DataType::Boolean,
                        DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16},
                       2)};

struct AllOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return static_cast<T>(a != T{0} && b != T{0} ? 1 : 0);
    }
};

struct AnyOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return static_cast<T>(a != T{0} || b != T{0} ? 1 : 0);
    }
};

template <typename F>
auto DispatchWindow(ReduceWindowFunction function, bool isBoolean, const F& f)
{
    switch (function)
    {
    case ReduceWindowFunction::Add: return isBoolean ? f(AnyOperation()) : f(AddOperation());
    case ReduceWindowFunction::Mul: return isBoolean ? f(AllOperation()) : f(MulOperation());
    case ReduceWindowFunction::Min: return isBoolean ? f(AllOperation()) : f(MinimumOperation());
    case ReduceWindowFunction::Max: return isBoolean ? f(AnyOperation()) : f(MaximumOperation());
    case ReduceWindowFunction::All: return f(AllOperation());
    case ReduceWindowFunction::Any: return f(AnyOperation());
    }
    throw InvalidArgumentException("ReduceWindow with an unknown function");
}

struct Walks
{
    IndexWalk<1> m_Outputs; ///< offset: the input element at which the window of an output starts
    IndexWalk<1> m_Window;  ///< offset: from there to an element of the window
};

template <typename T, typename Operation>
backends::Prepared MakeReduceWindow(const Walks& walks)
{
    return [walks](const ExecuteArgs& run)
    {
        // Sums are taken in double precision.
        constexpr bool IsSum = std::is_same_v<Operation, AddOperation>;
        using C = std::conditional_t<IsSum, AccumulatorType<T>, ComputeType<T>>;
        const T* in = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        const auto init = static_cast<C>(*run.GetInput<T>(1));
        constexpr size_t GrainElements = 16384; // some microseconds
        const size_t grain = std::max<size_t>(1, GrainElements / walks.m_Window.GetCount());
        const auto body = [&](size_t begin, size_t end)
        {
            T* to = out + begin;
            const auto reduce = [&](const auto&, const auto& start)
            {
                C value = init;
                walks.m_Window.Run(start, [&](const auto&, const auto& at)
                                   { value = Operation::Apply(value, static_cast<C>(in[at[0]])); });
                *to++ = static_cast<T>(static_cast<ComputeType<T>>(value));
            };
            walks.m_Outputs.Run(begin, end, {}, reduce);
        };
        run.m_Parallel->Run(walks.m_Outputs.GetCount(), grain, std::ref(body)); // by reference: a copy needs memory
    };
}

/// Throws unless all windows lie inside the input.
Walks MakeWalks(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<ReduceWindowDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    const Extents strides = GetStrides(input);
    bool fits = output.GetNumDimensions() == rank && descriptor.m_WindowSizes.size() == rank &&
                descriptor.m_Strides.size() == rank && descriptor.m_Dilations.size() == rank;
    Walks walks;
    for (unsigned int i = 0; fits && i < rank; ++i)
    {
        const uint64_t inside = uint64_t{input[i]} - 1; // the output is not empty, so the input must not be
        const uint64_t reach = (uint64_t{descriptor.m_WindowSizes[i]} - 1) * descriptor.m_Dilations[i];
        fits = input[i] != 0 && descriptor.m_WindowSizes[i] != 0 && reach <= inside &&
               (uint64_t{output[i]} - 1) * descriptor.m_Strides[i] <= inside - reach;
        // A stride that is not used may have any value and could overflow.
        const int64_t stride = output[i] == 1 ? 1 : descriptor.m_Strides[i];
        const int64_t dilation = descriptor.m_WindowSizes[i] == 1 ? 1 : descriptor.m_Dilations[i];
        if (fits)
        {
            walks.m_Outputs.Add(output[i], {stride * strides[i]});
            walks.m_Window.Add(descriptor.m_WindowSizes[i], {dilation * strides[i]});
        }
    }
    if (!fits || args.GetInput(1).GetNumElements() != 1)
    {
        throw LayerValidationException("ReduceWindow of " + input.ToString() + " to " + output.ToString() +
                                       ": the windows must lie inside the input, with a size, stride and dilation for "
                                       "each dimension, and input 1 must have one element");
    }
    return walks;
}

backends::Prepared PrepareReduceWindow(const ReshapeArgs& args, const backends::PackedWeights*)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const DataType type = args.GetInput(0).GetDataType();
    const Walks walks = MakeWalks(args);
    return DispatchWindow(
        args.GetDescriptor<ReduceWindowDescriptor>().m_Function, type == DataType::Boolean,
        [&](auto operation)
        {
            return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                                uint32_t, uint64_t>(
                type,
                [&](auto tag) { return MakeReduceWindow<typename decltype(tag)::Type, decltype(operation)>(walks); });
        });
}

} // namespace

extern const backends::Kernel RefReduceWindowKernel = {"RefReduceWindow", ReduceWindowTypes, PrepareReduceWindow};

} // namespace tenon::ref
