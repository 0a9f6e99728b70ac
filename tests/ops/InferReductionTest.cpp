// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: reductions.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Reduction.hpp>

namespace tenon::test::infer_reduction_test
{

namespace
{

MeanDescriptor Mean(std::vector<unsigned int> axes, bool keepDims = false, bool asInputs = false)
{
    MeanDescriptor descriptor(axes, keepDims);
    descriptor.m_ParametersAsInputs = asInputs;
    return descriptor;
}

ReduceDescriptor Reduce(std::vector<unsigned int> axes, bool keepDims = false, bool asInputs = false)
{
    ReduceDescriptor descriptor;
    descriptor.m_vAxis = std::move(axes);
    descriptor.m_KeepDims = keepDims;
    descriptor.m_ReduceOperation = ReduceOperation::Max;
    descriptor.m_ParametersAsInputs = asInputs;
    return descriptor;
}

ArgMinMaxDescriptor ArgMax(int axis, bool asInputs = false)
{
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Axis = axis;
    descriptor.m_ParametersAsInputs = asInputs;
    return descriptor;
}

} // namespace

static InferCases MakeReductionCases()
{
    constexpr LayerType mean = LayerType::Mean;
    constexpr LayerType reduce = LayerType::Reduce;
    constexpr LayerType argMinMax = LayerType::ArgMinMax;
    return {
        Case(mean, "axes", Mean({1, 2}), {T({2, 3, 4, 5})}).Gives({"[2,5]"}).Resolves(Mean({1, 2})),
        Case(mean, "keep dimensions", Mean({1, 2}, true), {T({2, 3, 4, 5})})
            .Gives({"[2,1,1,5]"})
            .Resolves(Mean({1, 2}, true)),
        Case(mean, "unordered and twice", Mean({2, 1, 2}), {T({2, 3, 4, 5})}).Gives({"[2,5]"}).Resolves(Mean({1, 2})),
        Case(mean, "empty means all", Mean({}), {T({2, 3})}).Gives({"[]"}).Resolves(Mean({0, 1})),
        Case(mean, "all of rank 8", Mean({}, true), {T({1, 2, 1, 2, 1, 2, 1, 2})})
            .Gives({"[1,1,1,1,1,1,1,1]"})
            .Resolves(Mean({0, 1, 2, 3, 4, 5, 6, 7}, true)),
        Case(mean, "of a scalar", Mean({}), {T({})}).Gives({"[]"}).Resolves(Mean({})),
        Case(mean, "of a scalar along an axis", Mean({0}), {T({})}).Gives({"[]"}).Resolves(Mean({})),
        Case(mean, "axes as input", Mean({}, false, true), {T({2, 3, 4}), P({-1, 0, 2})})
            .Gives({"[3]"})
            .Resolves(Mean({0, 2})),
        Case(mean, "axis as scalar input", Mean({9}, false, true), {T({2, 3, 4}), Shaped<int32_t>({}, {1})})
            .Gives({"[2,4]"})
            .Resolves(Mean({1})),
        Case(mean, "empty input means none", Mean({}, false, true), {T({2, 3}), P({})})
            .Gives({"[2,3]"})
            .Resolves(Mean({})),
        Case(mean, "more axes than the rank", Mean({}, true, true), {T({2, 3}), P64({0, 0, 0, 0, 0, 0, 0, 0, 0, -2})})
            .Gives({"[1,3]"})
            .Resolves(Mean({0}, true)),
        Case(mean, "no elements", Mean({0}), {T({4, 0, 2})}).Gives({"[0,2]"}).Resolves(Mean({0})),
        Case(mean, "axis too large", Mean({2}), {T({2, 3})}).Rejects("axis 2"),
        Case(mean, "axis input too small", Mean({}, false, true), {T({2, 3}), P({-3})}).Rejects("axis -3"),
        Case(mean, "axes not there", Mean({}, false, true), {T({2, 3}), Absent()}).Rejects("not connected"),

        Case(reduce, "axes", Reduce({0}), {T({2, 3})}).Gives({"[3]"}).Resolves(Reduce({0})),
        Case(reduce, "empty means all", Reduce({}, true), {T({2, 3})}).Gives({"[1,1]"}).Resolves(Reduce({0, 1}, true)),
        Case(reduce, "empty input means none", Reduce({}, false, true), {T({2, 3}), P({})})
            .Gives({"[2,3]"})
            .Resolves(Reduce({})),
        Case(reduce, "axis too large", Reduce({0xffffffffU}), {T({2, 3})}).Rejects("axis 4294967295"),

        Case(argMinMax, "axis", ArgMax(1), {T({2, 3, 4})}).Gives({"[2,4]"}),
        Case(argMinMax, "last axis", ArgMax(-1), {T({2, 3, 4})}).Gives({"[2,3]"}).Resolves(ArgMax(2)),
        Case(argMinMax, "vector", ArgMax(0), {T({3})}).Gives({"[]"}),
        Case(argMinMax, "axis as input", ArgMax(-1, true), {T({2, 3}), P({-2})}).Gives({"[3]"}).Resolves(ArgMax(0)),
        Case(argMinMax, "beside a huge dimension", ArgMax(1), {T({0, 2147483647})}).Gives({"[0]"}),
        Case(argMinMax, "of nothing", ArgMax(1), {T({2, 0})}).Rejects("no elements"),
        Case(argMinMax, "scalar", ArgMax(-1), {T({})}).Rejects("axis -1"),
        Case(argMinMax, "two axes", ArgMax(0, true), {T({2, 3}), P({0, 1})}).Rejects("2 elements"),
    };
}

static const InferTable ReductionTable(MakeReductionCases);

} // namespace tenon::test::infer_reduction_test
