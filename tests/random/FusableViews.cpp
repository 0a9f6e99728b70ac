// SPDX-License-Identifier: Apache-2.0
// See FusableNetwork.hpp. Here: views, which show the elements of a tensor in another shape.
#include "random/FusableNetwork.hpp"

#include <algorithm>

namespace tenon::test
{

namespace
{

std::vector<unsigned int> SizesOf(const TensorShape& shape)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(shape[i]);
    }
    return sizes;
}

TensorShape ShapeOf(const std::vector<unsigned int>& sizes)
{
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

constexpr unsigned int MaxRank = 5;

} // namespace

/// Two neighbouring dimensions as one.
bool FusableNetwork::Merge(const Tensor& input, RunShapes& shapes)
{
    if (input.Rank() < 2)
    {
        return false;
    }
    const unsigned int axis = Roll(input.Rank() - 1);
    for (size_t run = 0; run < NumRuns; ++run)
    {
        std::vector<unsigned int> sizes = SizesOf(input.m_Shapes[run]);
        sizes[axis] *= sizes[axis + 1];
        sizes.erase(sizes.begin() + axis + 1);
        shapes[run] = ShapeOf(sizes);
    }
    return true;
}

/// One dimension as two, of which one may be 1.
bool FusableNetwork::Cut(const Tensor& input, RunShapes& shapes)
{
    if (input.Rank() >= MaxRank)
    {
        return false;
    }
    const unsigned int axis = Roll(input.Rank());
    const unsigned int size = input.Shape()[axis];
    std::vector<unsigned int> divisors;
    for (unsigned int divisor = 1; divisor <= 16; ++divisor)
    {
        if (size % divisor == 0 && input.m_Shapes[1][axis] % divisor == 0)
        {
            divisors.push_back(divisor);
        }
    }
    const unsigned int inner = divisors[Roll(static_cast<unsigned int>(divisors.size()))];
    const bool isFirst = OneIn(2) && !input.IsFree(axis);
    for (size_t run = 0; run < NumRuns; ++run)
    {
        std::vector<unsigned int> sizes = SizesOf(input.m_Shapes[run]);
        const unsigned int outer = sizes[axis] / inner;
        sizes[axis] = isFirst ? inner : outer;
        sizes.insert(sizes.begin() + axis + 1, isFirst ? outer : inner);
        shapes[run] = ShapeOf(sizes);
    }
    return true;
}

/// By a descriptor, by a constant, or by the shape that some other tensor has at the run.
FusableNetwork::Tensor FusableNetwork::Reshape(const Tensor& input, const RunShapes& shapes)
{
    std::vector<int32_t> target;
    TensorShape known = shapes[0];
    for (unsigned int i = 0; i < known.GetNumDimensions(); ++i)
    {
        const bool isFree = shapes[0][i] != shapes[1][i];
        target.push_back(isFree ? -1 : static_cast<int32_t>(shapes[0][i]));
        if (isFree)
        {
            known.SetDimensionUnknown(i);
        }
    }
    ReshapeDescriptor descriptor(known);
    const unsigned int way = Roll(4);
    descriptor.m_ParametersAsInputs = way < 2;
    if (way == 0)
    {
        const Tensor* const like = Find([&](const Tensor& tensor) { return tensor.m_Shapes == shapes; });
        if (like != nullptr)
        {
            const RunShapes rank{TensorShape({like->Rank()}), TensorShape({like->Rank()})};
            const Tensor given = FinishAs(m_Case.m_Network->AddShapeLayer(NextName("shape").c_str()), {*like}, rank,
                                          TensorInfo(rank[0], DataType::Signed32), true, 1e9);
            m_Tensors.pop_back(); // nothing else reads it
            return FinishAs(m_Case.m_Network->AddReshapeLayer(descriptor, NextName("view").c_str()), {input, given},
                            shapes, TypeOf(input), input.m_IsExact, input.m_Bound);
        }
    }
    std::vector<Tensor> inputs{input};
    if (descriptor.m_ParametersAsInputs)
    {
        inputs.push_back(Ints(target, TensorShape({static_cast<unsigned int>(target.size())})));
    }
    return FinishAs(m_Case.m_Network->AddReshapeLayer(descriptor, NextName("view").c_str()), inputs, shapes,
                    TypeOf(input), input.m_IsExact, input.m_Bound);
}

FusableNetwork::Tensor FusableNetwork::View(const Tensor& input)
{
    RunShapes shapes;
    const unsigned int rank = input.Rank();
    switch (Roll(6))
    {
    case 0:
    {
        ExpandDimsDescriptor descriptor;
        descriptor.m_Axis = static_cast<int32_t>(Roll(rank + 1));
        if (rank < MaxRank)
        {
            return Move(m_Case.m_Network->AddExpandDimsLayer(descriptor, NextName("view").c_str()), {input});
        }
        break;
    }
    case 1:
    {
        SqueezeDescriptor descriptor;
        for (unsigned int axis = 0; axis < rank && descriptor.m_Axis.size() + 1 < rank; ++axis)
        {
            if (input.Shape()[axis] == 1 && !input.IsFree(axis))
            {
                descriptor.m_Axis.push_back(static_cast<int32_t>(axis));
            }
        }
        if (!descriptor.m_Axis.empty())
        {
            return Move(m_Case.m_Network->AddSqueezeLayer(descriptor, NextName("view").c_str()), {input});
        }
        break;
    }
    case 2:
        if (Cut(input, shapes))
        {
            return Reshape(input, shapes);
        }
        break;
    case 3: return Reshape(input, input.m_Shapes); // the same shape
    default: break;
    }
    return Merge(input, shapes) || Cut(input, shapes) ? Reshape(input, shapes) : Reshape(input, input.m_Shapes);
}

} // namespace tenon::test
