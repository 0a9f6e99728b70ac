// SPDX-License-Identifier: Apache-2.0
// Parameters and choice of the loop of 16-bit sums, products, maximum and minimum.
#include "backends/cpu/elementwise/BinaryInt16.hpp"

#include "backends/cpu/elementwise/BinaryLoopsInt16.hpp"
#include "backends/reference/kernels/QuantizedBinary.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

bool IsQuantizedAlike(const TensorInfo& x, const TensorInfo& y)
{
    return x.GetQuantizationScale() == y.GetQuantizationScale() &&
           x.GetQuantizationOffset() == y.GetQuantizationOffset();
}

QuantizedMultiplier GetProductMultiplier(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    // In float, as TFLite does.
    return QuantizeMultiplier(
        static_cast<double>(a.GetQuantizationScale() * b.GetQuantizationScale() / output.GetQuantizationScale()));
}

} // namespace

bool HasBinaryInt16(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        return IsQuantizedAlike(a, b) && IsQuantizedAlike(a, output);
    }
    if (a.GetQuantizationOffset() != 0 || b.GetQuantizationOffset() != 0 || output.GetQuantizationOffset() != 0)
    {
        return false;
    }
    if (operation == BinaryOperation::Mul)
    {
        // A product of 2^30 leaves no room for the rounding term 2^30 of a right shift by 31.
        return GetProductMultiplier(a, b, output).m_Shift > -31;
    }
    if (operation != BinaryOperation::Add && operation != BinaryOperation::Sub)
    {
        return false;
    }
    const auto shifts = ref::FindPotShifts(a, b, output);
    return !shifts || std::max(shifts->m_A, shifts->m_B) < 16; // a shift of all 16 bits has no loop
}

BinaryInt16 MakeBinaryInt16(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b,
                            const TensorInfo& output, backends::QuantizedRange range, bool isScalarB, bool swaps)
{
    const BinaryLoopsInt16& loops = GetBinaryLoopsInt16();
    const size_t fixed = isScalarB ? 1 : 0;
    BinaryInt16 numbers;
    numbers.m_Min = static_cast<int16_t>(range.m_Min);
    numbers.m_Max = static_cast<int16_t>(range.m_Max);
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        numbers.m_Loop = (operation == BinaryOperation::Maximum ? loops.m_Maximum : loops.m_Minimum)[fixed];
        return numbers;
    }
    if (operation == BinaryOperation::Mul)
    {
        numbers.m_Result = GetProductMultiplier(a, b, output);
        numbers.m_Loop = loops.m_Product[fixed];
        return numbers;
    }
    const auto form = static_cast<size_t>(operation == BinaryOperation::Add ? SumForm::Add
                                          : swaps                           ? SumForm::SubFrom
                                                                            : SumForm::Sub);
    if (const auto shifts = ref::FindPotShifts(a, b, output))
    {
        numbers.m_ShiftA = swaps ? shifts->m_B : shifts->m_A;
        numbers.m_ShiftB = swaps ? shifts->m_A : shifts->m_B;
        numbers.m_Loop = loops.m_PotSum[form][fixed];
        return numbers;
    }
    const float scaleA = a.GetQuantizationScale();
    const float scaleB = b.GetQuantizationScale();
    const bool scalesA = (scaleA < scaleB) != swaps;
    const double twiceMax = 2.0 * static_cast<double>(std::max(scaleA, scaleB));
    numbers.m_Lesser = QuantizeMultiplier(static_cast<double>(std::min(scaleA, scaleB)) / twiceMax);
    numbers.m_Result = QuantizeMultiplier(
        twiceMax / (double{1 << BinaryInt16::SumShift} * static_cast<double>(output.GetQuantizationScale())));
    numbers.m_Loop = loops.m_Sum[form][scalesA ? 1 : 0][fixed];
    return numbers;
}

} // namespace tenon::cpu
