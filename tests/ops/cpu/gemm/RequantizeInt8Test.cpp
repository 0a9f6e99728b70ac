// SPDX-License-Identifier: Apache-2.0
// Sums and products of bytes become bytes again by multipliers of all magnitudes, as CpuRef's do: the largest shifts.
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::test::requantize_int8_test
{

ISA_TEST(RequantizeInt8, ShiftsBy31AsReference)
{
    constexpr unsigned int Channels = 40;
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    const TestTensor data = Random(InfoInt8({1, 4, 4, 24}, true, std::exp2(-15.6f), 0), 1);
    for (const bool isMixed : {false, true}) // with a channel that is shifted to the left
    {
        std::vector<float> scales(Channels, std::exp2(-16.0f));
        if (isMixed)
        {
            scales[7] = std::exp2(17.0f);
        }
        const TensorInfo weights(TensorShape({Channels, 1, 1, 24}), DataType::QSymmS8, scales, 0);
        ExpectAsReference(ReferenceCase(isMixed ? "mixed" : "all", LayerType::Convolution2d, d,
                                        {data, Constant(Random(weights, 2))},
                                        InfoInt8({1, 4, 4, Channels}, true, 1.0f, 5)),
                          "CpuConvolution2dInt8");
    }
}

namespace
{

/// What tiles that write bytes make of `sums` of so many columns: without products they begin with all of them.
template <typename T>
void ExpectTilesWrite(const cpu::RequantizeColumns& columns, const int32_t* sums, size_t count, const int32_t* term,
                      const T* expected)
{
    const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    if (microkernels.m_PrepareRequantization == nullptr || !columns.FitsRegisters())
    {
        return;
    }
    cpu::PreparedRequantizationInt8 prepared;
    microkernels.m_PrepareRequantization(columns, sums, count, std::is_signed_v<T>, prepared);
    const auto scale = static_cast<size_t>(columns.GetScale());
    for (const cpu::MicrokernelSetInt8* set : {&microkernels.GetPlain(true), &microkernels.GetPlain(false)})
    {
        const cpu::RequantizedKernelInt8 write = set->m_RequantizedKernels[scale][term != nullptr][(count + 15) / 16];
        for (size_t numRows = 1; write != nullptr && numRows <= 16; ++numRows)
        {
            const std::vector<int32_t> terms(numRows, term != nullptr ? *term : 0);
            std::vector<T> bytes(numRows * count);
            const uint8_t data = 0;
            cpu::RequantizedRowsInt8 rows;
            rows.m_Data = &data;
            rows.m_Rows = numRows;
            rows.m_RowCorrections = terms.data();
            rows.m_Out = reinterpret_cast<uint8_t*>(bytes.data());
            rows.m_OutStride = count;
            if (!write(rows, prepared))
            {
                continue; // so few are summed in memory
            }
            for (size_t i = 0; i < bytes.size(); ++i)
            {
                ASSERT_EQ(bytes[i], expected[i % count]) << "row " << i / count << ", column " << i % count;
            }
        }
    }
}

} // namespace

// Tiles that end beside the products of the next ones, or after each other, with all numbers of rows that are left.
ISA_TEST(RequantizeInt8, PixelsOfAllCountsAsReference)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    for (const unsigned int depth : {44U, 48U, 68U, 512U, 516U})
    {
        for (const unsigned int outputs : {8U, 24U, 40U, 64U, 107U})
        {
            for (const unsigned int pixels : {5U, 6U, 7U, 8U, 9U, 12U, 16U, 25U})
            {
                for (const bool isSigned : {false, true})
                {
                    // Negative sums count, or do not; weights of uint8 have a zero point of their own, or none.
                    const int32_t least = isSigned ? -128 : 0;
                    const int32_t zeroPoint = pixels % 2 == 0 ? least : least + 100;
                    const int32_t weightZero = isSigned ? 0 : pixels % 3 == 0 ? 128 : 117;
                    const TensorShape weights({outputs, 1, 1, depth});
                    ExpectAsReferenceInBothModes<Convolution2dDescriptor>(
                        ReferenceCase(std::to_string(pixels) + " pixels, " + std::to_string(depth) + " to " +
                                          std::to_string(outputs) + (isSigned ? ", int8" : ", uint8"),
                                      LayerType::Convolution2d, d,
                                      {Random(InfoInt8({1, 1, pixels, depth}, isSigned, 0.1f, least + 120), pixels),
                                       Constant(Random(InfoInt8(weights, isSigned, 0.1f, weightZero), depth))},
                                      InfoInt8({1, 1, pixels, outputs}, isSigned, 9.0f, zeroPoint)),
                        "CpuConvolution2dInt8");
                }
            }
        }
    }
}

// All of the shifts: for whole vectors by one, and for lanes by different ones. Sums may be as large as they are
// allowed to be whatever the shift is, so that those to the left saturate, and the zero point's addition too.
ISA_TEST(RequantizeInt8, RequantizeAsTheScalarFunction)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    constexpr size_t Columns = 64;
    constexpr int32_t Largest = (1 << 30) - 1;
    for (int shift = -31; shift <= 30; ++shift)
    {
        for (const int step : {0, 1}) // between the shifts of lanes
        {
            alignas(64) int32_t multiplier[Columns];
            alignas(64) int32_t right[Columns];
            alignas(64) int32_t left[Columns];
            alignas(64) int32_t sums[Columns + cpu::RequantizeRows::PastSums] = {};
            std::vector<backends::QuantizedMultiplier> multipliers;
            for (size_t c = 0; c < Columns; ++c)
            {
                const int ofLane = (shift + 31 + static_cast<int>(c) * step) % 62 - 31;
                multiplier[c] = c % 3 == 0 ? 1 << 30 : c % 3 == 1 ? 1518500250 : std::numeric_limits<int32_t>::max();
                right[c] = std::max(0, -ofLane);
                left[c] = std::max(0, ofLane);
                multipliers.push_back({multiplier[c], ofLane});
            }
            cpu::RequantizeColumns columns;
            columns.m_Multiplier = multiplier;
            columns.m_Right = right;
            columns.m_Left = left;
            columns.m_HasOnlyRightShifts =
                std::all_of(right, right + Columns, [](int32_t s) { return cpu::RequantizeColumns::IsShifted(-s); });
            for (int sample = 0; sample < 200; ++sample)
            {
                // Negative sums do not count, or do; all values of a byte are in range, or not.
                columns.m_ZeroPoint = sample % 13 < 6 ? -128 : sample % 13 == 6 ? 127 : -3;
                columns.m_Min = sample % 3 == 0 ? columns.m_ZeroPoint : -128;
                columns.m_Max = sample % 2 == 0 ? 127 : std::max(columns.m_Min, 90);
                for (size_t c = 0; c < Columns; ++c)
                {
                    // Of all magnitudes, and the halves of what the shift divides by.
                    const int32_t value =
                        sample % 2 == 0
                            ? (sample * 7919 + static_cast<int32_t>(c) * 104729) * (1 + sample) % Largest >> sample % 31
                            : (Largest >> sample % 31) + 1 - sample % 3;
                    const int32_t sum = std::clamp(c % 2 == 0 ? value : -value, -Largest, Largest);
                    sums[c] = sample % 11 < 4 ? sum : sum >> left[c];
                }
                int8_t bytes[Columns];
                const int32_t term = sample % 5 - 2;
                cpu::RequantizeRows rows;
                if (sample % 4 < 2)
                {
                    std::for_each_n(sums, Columns, [term](int32_t& sum) { sum -= term; });
                    rows.m_RowCorrections = &term;
                }
                rows.m_Sums = sums;
                rows.m_SumStride = Columns;
                rows.m_Rows = 1;
                rows.m_Columns = sample % 7 == 0 ? 1 + static_cast<size_t>(sample) * 13 % Columns : Columns;
                rows.m_Out = bytes;
                rows.m_OutStride = Columns;
                rows.m_IsSigned = true;
                cpu::GetMicrokernelsInt8().m_Requantize(rows, columns);
                for (size_t c = 0; c < rows.m_Columns; ++c)
                {
                    const int32_t sum = sums[c] + (rows.m_RowCorrections != nullptr ? term : 0);
                    const int32_t scaled = backends::MultiplySaturating(sum, multipliers[c]);
                    ASSERT_EQ(bytes[c], std::clamp(backends::SaturatingAdd(scaled, columns.m_ZeroPoint), columns.m_Min,
                                                   columns.m_Max))
                        << sum << " * " << multiplier[c] << " << " << multipliers[c].m_Shift;
                }
                ASSERT_NO_FATAL_FAILURE(ExpectTilesWrite(columns, sums, rows.m_Columns, rows.m_RowCorrections, bytes));
            }
        }
    }
}

namespace
{

void SetFactors(cpu::RequantizeColumns& columns, const double* factors)
{
    columns.m_Scale = factors;
}
void SetFactors(cpu::RequantizeColumns& columns, const float* factors)
{
    columns.m_FloatScale = factors;
}

double Rescale(int32_t sum, double factor)
{
    return std::round(sum * factor);
}
double Rescale(int32_t sum, float factor)
{
    return std::nearbyint(static_cast<float>(sum) * factor);
}

/// Expects that sums times factors of this magnitude give what Rescale gives.
template <typename Factor, typename T>
void ExpectAsRescale(int exponent, std::mt19937& random)
{
    constexpr size_t Columns = 128;
    constexpr size_t Rows = 3;
    alignas(64) Factor factors[Columns];
    alignas(64) int32_t sums[Rows * Columns + cpu::RequantizeRows::PastSums] = {};
    for (size_t c = 0; c < Columns; ++c)
    {
        const auto mantissa = static_cast<Factor>(static_cast<double>(random() % 1000) / 2003);
        factors[c] = std::ldexp(c % 3 == 0 ? Factor(0.5) : Factor(0.5) + mantissa, exponent);
    }
    for (int32_t& sum : sums)
    {
        sum = static_cast<int32_t>(random()) >> random() % 32;
        sum = random() % 8 == 0 ? 0 : sum;
    }
    const int32_t terms[Rows] = {5, -1, 0};
    // Products as near to a half as there are, which floats round to either side of it.
    for (size_t i = 0; i < Rows * Columns; i += 2)
    {
        const double half = static_cast<double>(random() % 600) - 299.5;
        const double sum = std::round(half / factors[i % Columns]) - terms[i / Columns];
        sums[i] = std::abs(sum) < 2e9 ? static_cast<int32_t>(sum) : sums[i];
    }
    constexpr int32_t Lowest = std::numeric_limits<T>::min();
    cpu::RequantizeColumns columns;
    SetFactors(columns, factors);
    columns.m_ZeroPoint = Lowest + static_cast<int32_t>(random() % 256);
    columns.m_Min = exponent % 2 == 0 ? columns.m_ZeroPoint : Lowest;
    columns.m_Max = exponent % 3 == 0 ? std::max(columns.m_Min, Lowest + 200) : Lowest + 255;
    T bytes[Rows * Columns];
    cpu::RequantizeRows rows;
    rows.m_Sums = sums;
    rows.m_SumStride = Columns;
    rows.m_Rows = Rows;
    rows.m_Columns = 1 + random() % Columns;
    rows.m_RowCorrections = exponent % 4 < 2 ? terms : nullptr;
    rows.m_Out = bytes;
    rows.m_OutStride = Columns;
    rows.m_IsSigned = std::is_signed_v<T>;
    cpu::GetMicrokernelsInt8().m_Requantize(rows, columns);
    for (size_t i = 0; i < Rows * Columns; ++i)
    {
        if (i % Columns < rows.m_Columns)
        {
            const uint32_t term = rows.m_RowCorrections != nullptr ? static_cast<uint32_t>(terms[i / Columns]) : 0;
            const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + term);
            const double scaled = std::clamp(Rescale(sum, factors[i % Columns]), -1e5, 1e5);
            ASSERT_EQ(bytes[i],
                      std::clamp(static_cast<int32_t>(scaled) + columns.m_ZeroPoint, columns.m_Min, columns.m_Max))
                << sum << " * " << factors[i % Columns] << " + " << columns.m_ZeroPoint;
        }
    }
    const size_t ofTiles = std::min(rows.m_Columns, size_t{64});
    ASSERT_NO_FATAL_FAILURE(ExpectTilesWrite(columns, sums, ofTiles, rows.m_RowCorrections, bytes));
}

/// The same for these exponents and those around 0.
template <typename Factor>
void ExpectAsRescale(std::vector<int> exponents)
{
    std::mt19937 random(3);
    for (int exponent = -40; exponent <= 40; ++exponent)
    {
        exponents.push_back(exponent);
    }
    for (const int exponent : exponents)
    {
        ASSERT_NO_FATAL_FAILURE((ExpectAsRescale<Factor, int8_t>(exponent, random)));
        ASSERT_NO_FATAL_FAILURE((ExpectAsRescale<Factor, uint8_t>(exponent, random)));
    }
}

} // namespace

// By doubles: of all magnitudes, halves, and far outside of what integers hold, with columns of their own scales.
ISA_TEST(RequantizeInt8, RequantizeByDoublesAsTheScalarFunction)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    ExpectAsRescale<double>({120, 127, 128, 129, 200}); // to those that are no floats
}

// By floats, with halves that are rounded to even, to the largest.
ISA_TEST(RequantizeInt8, RequantizeByFloatsAsTheScalarFunction)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    ExpectAsRescale<float>({-126, 100, 120, 127, 128});
}

// The same for the multipliers that elementwise kernels share: from outputs whose steps are the smallest, where sums
// and products saturate before their zero point is added, to those where all results are the zero point.
ISA_TEST(RequantizeInt8, ProductsOfAllScalesAsReference)
{
    for (int exponent = -52; exponent <= 31; ++exponent) // sums have 20 bits more, and so have their multipliers
    {
        // Some with so many that loops in float are looked for, which takes a while.
        const unsigned int count = exponent % 4 == 0 ? 4096 : 500;
        for (const bool isSigned : {false, true})
        {
            const int32_t least = isSigned ? -128 : 0;
            for (const int32_t zeroPoint : {least, least + 127, least + 255})
            {
                const TestTensor a = Random(InfoInt8({count}, isSigned, 1.0f, zeroPoint), 1);
                const TestTensor b = Random(InfoInt8({count}, isSigned, 0.9f, least + 128), 2);
                const TensorInfo output = InfoInt8({count}, isSigned, std::ldexp(1.4f, exponent), zeroPoint);
                SCOPED_TRACE("output " + output.ToString());
                for (const BinaryOperation operation :
                     {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::SqDiff})
                {
                    ExpectAsReference(ReferenceCase("operation " + std::to_string(static_cast<int>(operation)),
                                                    LayerType::ElementwiseBinary,
                                                    ElementwiseBinaryDescriptor(operation), {a, b}, output),
                                      "CpuElementwiseBinary");
                }
                ExpectAsReference(
                    ReferenceCase("Prelu", LayerType::Prelu, MakeDescriptor(NullDescriptor()), {a, b}, output),
                    "CpuPrelu");
            }
        }
    }
}

} // namespace tenon::test::requantize_int8_test
