// SPDX-License-Identifier: Apache-2.0
// StablehloScatter: a copy of a tensor with windows written at the starts that index vectors give. Updates are applied
// in the order of their tensor; updates outside of the tensor are left out. Shape inference has checked the dimensions.
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/BinaryOperations.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/IndexWalk.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr TypeSet IndexTypes = {DataType::Signed32, DataType::Signed64};
constexpr DataType ScatteredTypes[] = {
    DataType::Float16,   DataType::Float32,    DataType::Float64,    DataType::BFloat16,
    DataType::Signed8,   DataType::Signed16,   DataType::Signed32,   DataType::Signed64,
    DataType::Unsigned8, DataType::Unsigned16, DataType::QAsymmS8,   DataType::QAsymmU8,
    DataType::QSymmS16,  DataType::Unsigned32, DataType::Unsigned64, DataType::QSymmS8,
};

constexpr auto ScatterTypes = []
{
    std::array<backends::TypeRow, std::size(ScatteredTypes)> rows{};
    for (size_t i = 0; i < rows.size(); ++i)
    {
        rows[i] = backends::Types({ScatteredTypes[i], IndexTypes, ScatteredTypes[i]}, ScatteredTypes[i]);
    }
    return rows;
}();

struct UpdateOperation
{
    template <typename T>
    static T Apply(T, T update)
    {
        return update;
    }
};

template <typename F>
auto DispatchScatter(ScatterNdFunction function, const F& f)
{
    switch (function)
    {
    case ScatterNdFunction::Update: return f(UpdateOperation());
    case ScatterNdFunction::Add: return f(AddOperation());
    case ScatterNdFunction::Sub: return f(SubOperation());
    case ScatterNdFunction::Max: return f(MaximumOperation());
    case ScatterNdFunction::Min: return f(MinimumOperation());
    case ScatterNdFunction::Mul: return f(MulOperation());
    }
    throw InvalidArgumentException("StablehloScatter with an unknown function");
}

/// One dimension of input 0.
struct Target
{
    int64_t m_Size = 0;
    int64_t m_Stride = 0;
    int m_WindowDim = -1; ///< the dimension of the updates that adds to the index; -1: none
    int64_t m_Entry = -1; ///< elements from an index vector's first entry to the dimension's entry; -1: starts at 0
};

struct ScatterPlan
{
    IndexWalk<2> m_Updates; ///< offsets: update, index vector
    std::vector<Target> m_Targets;
    size_t m_Bytes = 0; ///< bytes of input 0
};

ScatterPlan MakePlan(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<StablehloScatterDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& indices = args.GetInput(1).GetShape();
    const TensorShape& updates = args.GetInput(2).GetShape();
    const Extents inputStrides = GetStrides(input);
    const Extents indexStrides = GetStrides(indices);
    const Extents updateStrides = GetStrides(updates);
    const auto contains = [](const std::vector<uint32_t>& dimensions, uint32_t dimension)
    { return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end(); };

    ScatterPlan plan;
    plan.m_Bytes = args.GetInput(0).GetNumBytes();
    unsigned int indexDim = 0;
    for (unsigned int i = 0; i < updates.GetNumDimensions(); ++i)
    {
        int64_t indexStep = 0;
        if (!contains(descriptor.m_UpdateWindowDims, i))
        {
            indexDim += indexDim == descriptor.m_IndexVectorDim ? 1 : 0;
            indexStep = indexStrides[indexDim++];
        }
        plan.m_Updates.Add(updates[i], {updateStrides[i], indexStep});
    }
    auto windowDim = descriptor.m_UpdateWindowDims.begin();
    for (unsigned int i = 0; i < input.GetNumDimensions(); ++i)
    {
        Target target{input[i], inputStrides[i], -1, -1};
        if (!contains(descriptor.m_InsertedWindowDims, i))
        {
            target.m_WindowDim = static_cast<int>(*windowDim++);
        }
        const auto& map = descriptor.m_ScatterDimsToOperandDims;
        if (const auto entry = std::find(map.begin(), map.end(), i); entry != map.end())
        {
            const bool hasVectors = descriptor.m_IndexVectorDim < indices.GetNumDimensions();
            target.m_Entry = (entry - map.begin()) * (hasVectors ? indexStrides[descriptor.m_IndexVectorDim] : 1);
        }
        plan.m_Targets.push_back(target);
    }
    return plan;
}

template <typename T, typename Index, typename Operation>
backends::Prepared MakeScatter(ScatterPlan plan)
{
    // Sums of floats are taken in double precision, in the scratch memory.
    constexpr bool IsSum = std::is_same_v<Operation, AddOperation> || std::is_same_v<Operation, SubOperation>;
    using Result = std::conditional_t<IsSum, AccumulatorType<T>, T>;
    constexpr bool IsWider = !std::is_same_v<Result, T>;
    const size_t scratchBytes = IsWider ? backends::CheckedCount(plan.m_Bytes / sizeof(T), sizeof(Result)) : 0;
    const auto execute = [plan = std::move(plan)](const ExecuteArgs& run)
    {
        const Index* indices = run.GetInput<Index>(1);
        const T* updates = run.GetInput<T>(2);
        auto* out = static_cast<Result*>(IsWider ? run.m_Scratch : run.m_Outputs[0]);
        const size_t count = plan.m_Bytes / sizeof(T);
        if constexpr (IsWider)
        {
            std::transform(run.GetInput<T>(0), run.GetInput<T>(0) + count, out,
                           [](T value) { return static_cast<Result>(value); });
        }
        else
        {
            CopyBlock(out, run.m_Inputs[0], plan.m_Bytes);
        }
        plan.m_Updates.Run(
            {},
            [&](const auto& at, const auto& offsets)
            {
                int64_t to = 0;
                for (const Target& target : plan.m_Targets)
                {
                    const int64_t start = target.m_Entry < 0 ? 0 : int64_t{indices[offsets[1] + target.m_Entry]};
                    const int64_t within = target.m_WindowDim < 0 ? 0 : at[static_cast<size_t>(target.m_WindowDim)];
                    if (start < -within || start >= target.m_Size - within)
                    {
                        return;
                    }
                    to += (start + within) * target.m_Stride;
                }
                using C = std::conditional_t<IsSum, AccumulatorType<T>, ComputeType<T>>;
                out[to] =
                    static_cast<Result>(Operation::Apply(static_cast<C>(out[to]), static_cast<C>(updates[offsets[0]])));
            });
        if constexpr (IsWider)
        {
            std::transform(out, out + count, run.GetOutput<T>(0), FromAccumulator<T>);
        }
    };
    return {execute, scratchBytes};
}

backends::Prepared PrepareStablehloScatter(const ReshapeArgs& args, const backends::PackedWeights*)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const ScatterNdFunction function = args.GetDescriptor<StablehloScatterDescriptor>().m_Function;
    return DispatchScatter(function,
                           [&](auto operation)
                           {
                               return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t,
                                                   uint8_t, uint16_t, uint32_t, uint64_t>(
                                   args.GetInput(0).GetDataType(),
                                   [&](auto tag)
                                   {
                                       using T = typename decltype(tag)::Type;
                                       return args.GetInput(1).GetDataType() == DataType::Signed32
                                                  ? MakeScatter<T, int32_t, decltype(operation)>(MakePlan(args))
                                                  : MakeScatter<T, int64_t, decltype(operation)>(MakePlan(args));
                                   });
                           });
}

} // namespace

extern const backends::Kernel RefStablehloScatterKernel = {"RefStablehloScatter", ScatterTypes,
                                                           PrepareStablehloScatter};

} // namespace tenon::ref
