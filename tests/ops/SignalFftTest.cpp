// SPDX-License-Identifier: Apache-2.0
// SignalFft: floats against the sums that define the transform, integers bit for bit against results of TFLM's kernels
// (tflite-micro 0.dev20261023182759), and within their roundings against the sums.
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>

namespace tenon::test::signal_fft_test
{

namespace
{

std::complex<double> Turn(uint64_t numerator, uint32_t length)
{
    return std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(numerator % length) / length);
}

/// The transform of lines, divided by `divisor`.
std::vector<double> Transform(const RealTensor& in, uint32_t length, double divisor)
{
    const size_t size = in.m_Shape[in.m_Shape.GetNumDimensions() - 1];
    std::vector<double> values;
    for (size_t line = 0; line < in.m_Values.size(); line += size)
    {
        for (uint32_t k = 0; k <= length / 2; ++k)
        {
            std::complex<double> sum = 0;
            for (size_t i = 0; i < size; ++i)
            {
                sum += in.m_Values[line + i] * std::conj(Turn(uint64_t{k} * i, length));
            }
            values.push_back(sum.real() / divisor);
            values.push_back(sum.imag() / divisor);
        }
    }
    return values;
}

std::vector<double> TransformBack(const RealTensor& in, uint32_t length)
{
    std::vector<double> values;
    for (size_t line = 0; line < in.m_Values.size(); line += length + 2)
    {
        for (uint32_t i = 0; i < length; ++i)
        {
            double sum = 0;
            for (uint32_t k = 0; k < length; ++k)
            {
                const uint32_t mirrored = std::min(k, length - k);
                const double* pair = in.m_Values.data() + line + 2 * size_t{mirrored};
                const bool isReal = mirrored == 0 || 2 * mirrored == length;
                const std::complex<double> frequency(pair[0], isReal ? 0 : k == mirrored ? pair[1] : -pair[1]);
                sum += (frequency * Turn(uint64_t{k} * i, length)).real();
            }
            values.push_back(sum / length);
        }
    }
    return values;
}

OpCase MakeCase(TestTensor input, uint32_t length, bool isInverse)
{
    SignalFftDescriptor descriptor;
    descriptor.m_Length = length;
    descriptor.m_Inverse = isInverse;
    TensorShape shape = input.m_Info.GetShape();
    if (shape.GetNumDimensions() != 0)
    {
        shape.SetDimensionSize(shape.GetNumDimensions() - 1, isInverse ? length : length + 2);
    }
    const bool isFloat = input.m_Info.GetDataType() == DataType::Float32;
    OpCase op;
    op.m_Name = input.m_Info.ToString() + ", length " + std::to_string(length) + (isInverse ? ", inverse" : "");
    op.m_Type = LayerType::SignalFft;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = TensorInfo(shape, input.m_Info.GetDataType());
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    { return isInverse ? TransformBack(in[0], length) : Transform(in[0], length, isFloat ? 1.0 : length); };
    return op;
}

/// Length, numbers and results of an integer transform.
struct Fixed
{
    DataType m_Type;
    uint32_t m_Length;
    std::vector<double> m_Input;
    std::vector<double> m_Output;
};

void ExpectFixed(const std::vector<Fixed>& all, bool isInverse)
{
    for (const Fixed& fixed : all)
    {
        const TensorInfo info(TensorShape({static_cast<unsigned int>(fixed.m_Input.size())}), fixed.m_Type);
        OpCase op = MakeCase(Stored(info, fixed.m_Input), fixed.m_Length, isInverse);
        op.m_Steps = 0;
        op.m_Oracle = Expect(op.m_Output, fixed.m_Output);
        CheckOp(op);
    }
}

TestTensor Floats(const TensorShape& shape)
{
    return Random(TensorInfo(shape, DataType::Float32), 9, -1, 1);
}

} // namespace

ISA_TEST(SignalFft, FloatsOfAnyEvenLength)
{
    for (const bool isInverse : {false, true})
    {
        const auto sized = [&](unsigned int length, unsigned int missing)
        { return isInverse ? length + 2 : length - missing; };
        CheckOp(MakeCase(Floats(TensorShape({sized(512, 32)})), 512, isInverse));
        CheckOp(MakeCase(Floats(TensorShape({3, sized(64, 0)})), 64, isInverse));
        CheckOp(MakeCase(Floats(TensorShape({2, 2, sized(14, 5)})), 14, isInverse));
        CheckOp(MakeCase(Floats(TensorShape({sized(2, 0)})), 2, isInverse));
        CheckOp(MakeCase(Floats(TensorShape({20, sized(6, 1)})), 6, isInverse));
        CheckOp(MakeCase(Floats(TensorShape({0, sized(6, 1)})), 6, isInverse));
    }
}

ISA_TEST(SignalFft, IntegersOfTflm)
{
    ExpectFixed(
        {
            {DataType::Signed16, 4, {7385, -16330, 30997}, {5512, 0, -5903, 4082, 13676, 0}},
            {DataType::Signed16,
             6,
             {-9838, -1133, -17660, 29592, 11170, 10754},
             {3813, 0, -5228, 5876, 3031, -2445, -9255, 0}},
            {DataType::Signed16,
             8,
             {-32768, 32767, -32768, 14383, -15863, -9761, -5447},
             {-6181, 0, 374, -1615, -1301, -1078, -4600, -8443, -15527, 0}},
            {DataType::Signed16,
             10,
             {12421, 11174, 11709, 29269, -4978, 27709, 31150, 24920, -12895, -28551},
             {10191, 0, -6761, -2965, -3, -8404, 4295, 1359, 4939, -2532, -2711, 0}},
            {DataType::Signed16,
             16,
             {20707, 10592, -29595, 18274, 13834, -19573, 23421, -23964, -6628, 17276, 17998, -31443, -16199, 29202,
              4183, -23915},
             {260, 0, 727, -517, 300, 110, -1183, 3541, -267, -6158, 10505, -2719, 1754, -4790, -3217, 731, 3204, 0}},
            {DataType::Signed16,
             18,
             {14655, 2365, 2227, 3818, 14781, 26613, 20703, -14245, 24653, -18205, 10164, 29292, 30902, 29040, 19479,
              -1574, -25195, 19711},
             {10508, 0,    -2035, 1250, -4042, -3452, 5863,  570,  3095, 1061,
              1651,  -126, -1062, 5053, 1746,  -684,  -4132, 2263, 1976, 0}},
            {DataType::Signed16,
             20,
             {-24542, 27437, 19412, 20893, -2168,  -26053, 26958, -6261, -24139, 17262,
              -8684,  24842, 6714,  30292, -22642, -16993, 30670, 25672, 32387,  12771},
             {7190,  0,    2953, 2505,  1933,  -592,  -3967, 2474, -6280, -4569, -3044,
              -1967, 1190, 4319, -1713, -2677, -6846, -3736, 1808, 1524,  -3794, 0}},
            {DataType::Signed16,
             30,
             {-14716, 6976,  -15061, -2771,  15210,  -20119, -21198, 28990, 19339, -23237,
              4415,   1398,  -3879,  -24810, -3739,  -25665, 6933,   12894, -378,  25479,
              14224,  -2546, 27607,  19306,  -19492, 23564,  -4919,  2321,  -15051},
             {369,  0,   -735, 3009,  -3832, -2107, 1581, 1224,  -210, -1481, 153, -503, -2114, -881, 545,   2076,
              4619, 821, 1136, -1402, -5761, -2193, 539,  -1777, 406,  1962,  55,  352,  -3385, 2498, -1083, 0}},
            {DataType::Signed32,
             8,
             {-2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647},
             {0, 0, 0, 0, 0, 0, 0, 0, -2147483642, 0}},
            {DataType::Signed32,
             12,
             {1809672597, 691457855, 839793513, 1902514641, -407899076, -1050258488, -2119213221, 1332945902,
              1410272528, 39765813, -64875913, -1217368389},
             {263900645, 0, 259574293, -69536972, -271839846, -506254754, 346361804, 194760580, 72142155, -113246505,
              376285353, -201389654, -19275575, 0}},
            {DataType::Signed32,
             10,
             {-389840920, -15120131, -1024337493, 45467299, -958909837, -643114567, 1260008555, -1143706592, -131646808,
              -537808944},
             {-353900943, 0, -45549355, 71504644, 71292984, -138373412, 56389943, 178747864, -152581385, -359144715,
              104955643, 0}},
        },
        false);
}

ISA_TEST(SignalFft, InverseIntegersOfTflm)
{
    ExpectFixed(
        {
            {DataType::Signed16, 4, {29278, -28547, -20361, -19695, -21018, 5368}, {-8114, 6036, 12244, -13656}},
            {DataType::Signed16,
             6,
             {-25227, -22293, 25972, -12067, 23470, 18761, -32583, -1779},
             {17766, -289, 1947, 392, -15849, 3576}},
            {DataType::Signed16,
             8,
             {-13227, -3040, 22147, -2088, 15758, 28017, -18454, -15810, 3810, -20455},
             {3686, 1208, -8546, 862, 1838, -19472, -1686, 8886}},
            {DataType::Signed16,
             10,
             {-32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768},
             {-26212, 0, 26720, 0, 1792, 0, 11314, 0, -13614, 0}},
            {DataType::Signed16,
             16,
             {-10299, 6560, -32588, -5308, -16249, -11542, 8625, -21611, 27181, 18375, 9874, 27166, -27250, 14999,
              25349, 6572, 2953, 13857},
             {-1090, -1717, -3245, 3475, -4428, -1045, -5330, 3002, -3906, -3197, 2167, -3095, 21176, -6537, -9016,
              2490}},
            {DataType::Signed16,
             18,
             {21145, 15941, 4584,  29443, -9534, -27414, 30591,  26093, 12029, 8,
              30049, -3345, 29709, 12239, 31143, 7633,   -11937, -4160, 7562,  -13691},
             {7271, -4152, -2742, 10290, 2295, -2699, -9042, -7288, 559, -1394, 10049, 1973, 4810, 2788, 3843, 11990,
              -2689, -4715}},
            {DataType::Signed16,
             20,
             {32386,  -28299, 19921, -18965, -30435, -20402, -19690, -27697, -6001, 12282,  11753,
              -12443, -2072,  12568, 15893,  -27414, 12223,  24327,  -21260, 12817, -16139, 18491},
             {-1155, 700,   -4182, 5354, -1001, -7957, -1382, -8424, 2073, 9563,
              -2477, -1626, 2064,  2440, 2571,  3395,  7952,  -2782, 3655, -9171}},
            {DataType::Signed16,
             30,
             {18054, 19060, -13570, -135,   -22930, -25092, -20375, -11406, -32305, -7361, -28102,
              11290, 16458, -9661,  26432,  -26185, -29016, -23919, 14478,  8798,   18196, -13193,
              11876, 31981, -66,    -22687, -950,   -28721, 12757,  327,    -16709, 21232},
             {1272, 1165, -2873, -573,  2847,  774, 1829, -10486, -7946, 6603,  748,   -5187, 383, 4801, 2339,
              1896, 5282, 1542,  -1894, -6484, 212, 1955, -3621,  11,    -4669, -1290, 3078,  422, 3682, -10528}},
            {DataType::Signed32,
             8,
             {-1758656057, 1219866602, -1302802265, 444780596, -1907140402, 1028857287, -2103528231, 361987821,
              -1614884373, -280320628},
             {-139447541, -276253945, 571265263, 1028817139, -583765941, -274117617, 612661651, -550331417}},
            {DataType::Signed32,
             12,
             {1519569936, 1077145344, 18035561, 767700272, -1810910888, 2066566093, -1830738408, -1418455896,
              1244742570, 299564578, -1192088289, -596929959, -1502472234, 943684975},
             {-593735099, 410436244, 423803865, -219586494, -720527676, -329595153, 407861945, -383253332, 403167999,
              310155574, 87977818, -424619401}},
            {DataType::Signed32,
             10,
             {-2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648,
              -2147483648, -2147483648, -2147483648, -2147483648},
             {-1717986916, 0, 1751351740, 0, 117449090, 0, 741544368, 0, -892358282, 0}},
        },
        true);
}

TEST(SignalFft, IntegersApproximateTheTransform)
{
    for (const uint32_t length : {32U, 100U, 400U, 480U, 512U, 1024U})
    {
        for (const DataType type : {DataType::Signed16, DataType::Signed32})
        {
            const double max = type == DataType::Signed16 ? 32767 : 1e9;
            const OpCase op =
                MakeCase(Random(TensorInfo(TensorShape({3, length - 4}), type), 5, -max, max), length, false);
            const std::vector<std::byte> bytes = RunOp(*GetTestBackends().front(), op, RunVariant());
            const std::vector<double> got = GetStored(op.m_Output, bytes.data());
            const std::vector<double> wanted =
                op.m_Oracle({GetReal(op.m_Inputs[0].m_Info, op.m_Inputs[0].m_Bytes.data())});
            ASSERT_EQ(got.size(), wanted.size());
            for (size_t i = 0; i < got.size(); ++i)
            {
                EXPECT_NEAR(got[i], wanted[i], 4) << op.m_Name << ", element " << i;
            }
        }
    }
}

ISA_TEST(SignalFft, RefusesWhatDoesNotFit)
{
    CheckUnsupported(MakeCase(Floats(TensorShape({5})), 7, false), SupportCode::UnsupportedParameters, "even");
    for (const uint32_t length : {2U, 5U, 14U, 308U})
    {
        CheckUnsupported(MakeCase(Random(TensorInfo(TensorShape({2}), DataType::Signed16), 3), length, false),
                         SupportCode::UnsupportedParameters, "prime factor above 5");
    }
    CheckUnsupported(MakeCase(Random(TensorInfo(TensorShape({4}), DataType::Signed8), 3), 4, false),
                     SupportCode::UnsupportedType, "input 0");
    CheckRejectsShapes(MakeCase(Floats(TensorShape({9})), 8, false), "do not fit together");
    CheckRejectsShapes(MakeCase(Floats(TensorShape({9})), 8, true), "do not fit together");
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const auto fft = [](uint32_t length, bool isInverse)
    {
        return Made<SignalFftDescriptor>(
            [&](auto& d)
            {
                d.m_Length = length;
                d.m_Inverse = isInverse;
            });
    };
    return {
        Case(SignalFft, "forward", fft(512, false), {T({1, 480})}).Gives({"[1,514]"}),
        Case(SignalFft, "inverse", fft(512, true), {T({514})}).Gives({"[512]"}),
        Case(SignalFft, "long line", fft(8, false), {T({9})}).Rejects("8 or less"),
        Case(SignalFft, "other frequencies", fft(8, true), {T({9})}).Rejects("must be 10"),
        Case(SignalFft, "odd length", fft(7, false), {T({7})}).Rejects("must be even"),
        Case(SignalFft, "no length", fft(0, false), {T({7})}).Rejects("at least 2"),
        Case(SignalFft, "scalar", fft(8, false), {T({})}).Rejects("scalar"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::signal_fft_test
