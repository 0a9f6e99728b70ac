// SPDX-License-Identifier: Apache-2.0
// Which file becomes which input: kinds of files, counts, shapes, random values.
#include "tools/common/Inputs.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Npy.hpp"
#include "tools/common/RandomInputs.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{
namespace
{

using Shapes = std::vector<std::vector<unsigned int>>;

class Inputs : public testing::Test
{
protected:
    std::vector<InputData> Load(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                const Shapes& shapes = {}, unsigned int iterations = 1)
    {
        return LoadInputs(bindings, files, shapes, {}, m_Limits, iterations);
    }

    /// Two inputs.
    std::vector<InputData> MakeRandom(const TensorInfo& info, Distribution distribution = Distribution::Uniform,
                                      uint64_t set = 0)
    {
        const std::vector<Binding> bindings = {{"a", 0, info}, {"b", 1, info}};
        std::vector<InputData> inputs = Load(bindings, {});
        FillRandomInputs(bindings, inputs, distribution, set);
        return inputs;
    }

    std::string WriteFloats(const std::string& name, const TensorShape& shape)
    {
        const TensorInfo info(shape, DataType::Float32);
        std::vector<float> values(info.GetNumElements(), 1.5f);
        WriteNpy(m_Folder.Path(name), info, reinterpret_cast<const std::byte*>(values.data()));
        return m_Folder.Path(name);
    }

    const Binding m_Floats{"floats", 0, TensorInfo({2, 2}, DataType::Float32)};
    const Binding m_Bytes{"bytes", 1, TensorInfo({3}, DataType::QAsymmS8, 0.5f)};
    const Limits m_Limits;
    test::TempFolder m_Folder;
};

double First(const InputData& data)
{
    return GetElement(data.m_Info.GetDataType(), data.m_Data.Data(), 0);
}

TEST_F(Inputs, KindsFollowFromContentAndExtension)
{
    const std::string npy = WriteFloats("a.npy", {2, 2});
    EXPECT_EQ(First(Load({m_Floats}, {npy})[0]), 1.5);
    EXPECT_EQ(First(Load({m_Floats}, {m_Folder.Write("renamed.dat", m_Folder.Read("a.npy"))})[0]), 1.5);
    EXPECT_EQ(First(Load({m_Floats}, {m_Folder.Write("a.csv", "0.5, 1\n2,3\n")})[0]), 0.5);
    EXPECT_EQ(First(Load({m_Bytes}, {m_Folder.Write("a.bin", "\xFF\x01\x02")})[0]), -1.0);
    EXPECT_EQ(First(Load({m_Bytes}, {m_Folder.Write("a.RAW", "123")})[0]), '1');
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.dat", std::string("\0\1\2", 3))}), InputError,
                      "supported are .npy");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("b.npy", "1 2 3")}), InputError, "no .npy file");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Path("none")}), InputError, "does not exist");
    for (const char* name : {"empty.txt", "empty.png", "empty.npy", "empty"})
    {
        EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write(name, "")}), InputError, "the file is empty");
    }
    const Binding none{"none", 2, TensorInfo({0}, DataType::Float32)};
    EXPECT_EQ(Load({none}, {m_Folder.Write("empty.txt", "")})[0].m_Data.Size(), 0U);
}

TEST_F(Inputs, MessagesNameInputFileAndExpectation)
{
    const std::string npy = WriteFloats("a.npy", {3});
    EXPECT_THROW_WITH(Load({m_Bytes}, {npy}), InputError, "a.npy' for input 'bytes', which is int8 [3]: ");
}

TEST_F(Inputs, AnNpyFileBringsItsShape)
{
    const std::string npy = WriteFloats("a.npy", {5, 1});
    EXPECT_EQ(Load({m_Floats}, {npy})[0].m_Info.GetShape(), TensorShape({5, 1}));
    EXPECT_EQ(Load({m_Floats}, {npy}, {{5, 1}})[0].m_Info.GetShape(), TensorShape({5, 1}));
    EXPECT_THROW_WITH(Load({m_Floats}, {npy}, {{2, 2}}), InputError, "--input-tensor-shape says [2,2]");
}

TEST_F(Inputs, EveryInputNeedsAFile)
{
    const std::string npy = WriteFloats("a.npy", {2, 2});
    EXPECT_THROW_WITH(Load({m_Floats, m_Bytes}, {npy}), UsageError, "'floats' float32 [2,2], 'bytes' int8 [3]");
    EXPECT_THROW_WITH(Load({m_Floats}, {npy, npy}), UsageError, "2 file(s), but the model has 1");
    EXPECT_THROW_WITH(Load({m_Floats}, {npy, npy}), UsageError, "add --iterations 2");
}

TEST_F(Inputs, IterationsMayHaveFilesOfTheirOwn)
{
    const std::string floats = WriteFloats("a.npy", {2, 2});
    const std::string texts[] = {m_Folder.Write("a.txt", "1 2 3"), m_Folder.Write("b.txt", "4 5 6")};
    const std::vector<InputData> sets = Load({m_Floats, m_Bytes}, {floats, texts[0], floats, texts[1]}, {}, 2);
    ASSERT_EQ(sets.size(), 4U);
    EXPECT_EQ(First(sets[1]), 1.0);
    EXPECT_EQ(First(sets[2]), 1.5);
    EXPECT_EQ(First(sets[3]), 4.0);
    EXPECT_EQ(Load({m_Floats, m_Bytes}, {floats, texts[0]}, {}, 2).size(), 2U) << "one set for all";
    EXPECT_EQ(Load({m_Bytes}, {texts[0], texts[1]}, {}, 3).size(), 2U) << "sets that take turns";
    EXPECT_THROW_WITH(Load({m_Floats, m_Bytes}, {floats, texts[0], floats}, {}, 3), UsageError,
                      "3 iterations take one set of as many files, or several sets in turn");
    EXPECT_THROW_WITH(Load({m_Bytes}, {texts[0], texts[1], texts[0]}, {}, 2), UsageError, "add --iterations 3");
    const std::string other = WriteFloats("b.npy", {4, 1});
    EXPECT_THROW_WITH(Load({m_Floats}, {floats, other}, {}, 2), InputError,
                      "its shape is [4,1], but the file of the first iteration says [2,2]");
}

TEST_F(Inputs, AsManyElementsInAnotherShapeAreRemarked)
{
    const auto remark = [&](const TensorShape& shape, const Shapes& shapes = {})
    { return Load({m_Floats}, {WriteFloats("a.npy", shape)}, shapes)[0].m_Remark; };
    EXPECT_EQ(remark({2, 2}), "");
    EXPECT_EQ(remark({2, 3}), "") << "another number of elements";
    EXPECT_EQ(remark({4, 1}, {{4, 1}}), "") << "as --input-tensor-shape says";
    EXPECT_NE(remark({4, 1}).find("input 'floats' has the shape [4,1] in '"), std::string::npos) << remark({4, 1});
    EXPECT_NE(remark({4, 1}).find("[2,2] in the model"), std::string::npos) << remark({4, 1});
    Binding open = m_Floats;
    open.m_Info.SetShape(TensorShape({0, 2}, {false, true}));
    EXPECT_EQ(Load({open}, {WriteFloats("a.npy", {2, 2})})[0].m_Remark, "");
}

TEST_F(Inputs, TextMustFit)
{
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.txt", "1 2\n3 4")}), InputError, "it has 4 numbers");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.txt", "1 2   ")}), InputError, "it has 2 numbers");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.txt", "1")}), InputError, "fewer than the 3");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.txt", "1\n2\n300")}), InputError, "line 3: '300'");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.txt", "1 2 apple")}), InputError, "apple");
}

TEST_F(Inputs, TheWrongWordOfATextIsNamedWithItsPlace)
{
    const auto expect = [&](const std::string& content, const std::string& message)
    { EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.txt", content)}), InputError, message); };
    expect("1 2\n3 4x", "column 3 of line 2: '4x' is no value");
    expect("1 2 3 four", "column 7 of line 1: 'four' is no value"); // behind the last that is wanted
    expect("1 x", "column 3 of line 1: 'x' is no value");           // where there are too few
    expect("\xEF\xBB\xBF"
           "1 2 x",
           "column 5 of line 1: 'x' is no value");
    expect("1 2\n\xC3\xA4\xC3\xB6,y", "column 1 of line 2: 'äö' is no value");
    expect("1,2,\xC3\xA4 1;5", "column 5 of line 1: 'ä' is no value");
    expect("1 2 \x1b[31m", "column 5 of line 1: '\\x1B[31m' is no value");
    expect("1 2 " + std::string(100, 'z'), ": '" + std::string(40, 'z') + "...' is no value");
    expect("1 \xE4 3", "column 3 of line 1: '\\xE4' is no value"); // Latin-1, and named as text
    expect("\xFF\xFE"
           "1",
           "UTF-16");
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a", "1 2 größer")}), InputError, "'größer' is no value");
}

TEST_F(Inputs, ATextMayHaveAByteOrderMark)
{
    for (const char* name : {"a.txt", "a.csv", "a"})
    {
        EXPECT_EQ(First(Load({m_Bytes}, {m_Folder.Write(name, "\xEF\xBB\xBF"
                                                              "7, 8\r\n9\r\n")})[0]),
                  7.0);
    }
}

TEST_F(Inputs, RawBytesMustFit)
{
    EXPECT_THROW_WITH(Load({m_Bytes}, {m_Folder.Write("a.bin", "12")}), InputError, "raw file of 3 bytes");
    EXPECT_THROW(Load({m_Bytes}, {m_Folder.Write("a.bin", "1234")}), InputError);
}

TEST_F(Inputs, OpenShapesNeedADecision)
{
    Binding open = m_Floats;
    open.m_Info.SetShape(TensorShape(Dimensionality::NotSpecified));
    EXPECT_THROW_WITH(Load({open}, {}), InputError, "--input-tensor-shape");
    EXPECT_THROW_WITH(Load({open}, {m_Folder.Write("a.txt", "1 2 3 4")}), InputError, "--input-tensor-shape");
    EXPECT_EQ(Load({open}, {m_Folder.Write("a.txt", "1 2 3 4")}, {{4}})[0].m_Info.GetShape(), TensorShape({4}));
    EXPECT_EQ(Load({open}, {WriteFloats("a.npy", {5, 1})})[0].m_Info.GetShape(), TensorShape({5, 1}));
    open.m_Info.SetShape(TensorShape({0, 3}, {false, true}));
    EXPECT_EQ(Load({open}, {})[0].m_Info.GetShape(), TensorShape({1, 3}));
}

TEST_F(Inputs, LimitsHoldBeforeMemoryIsTaken)
{
    Binding huge = m_Floats;
    huge.m_Info.SetShape({1U << 20, 1U << 20});
    const char* const reason = sizeof(size_t) == 8 ? "the limit is" : "address space";
    EXPECT_THROW_WITH(Load({huge}, {}), InputError, reason);
    EXPECT_THROW_WITH(Load({huge}, {m_Folder.Write("a.txt", "1")}), InputError, reason);
    EXPECT_THROW_WITH(Load({m_Floats}, {}, {{1U << 31, 1U << 31, 1U << 31}}), InputError, "floats");
}

TEST_F(Inputs, RandomValuesAreTheSameEveryTimeAndFitTheirType)
{
    for (int i = 0; i <= static_cast<int>(DataType::Complex128); ++i)
    {
        const TensorInfo info({50}, static_cast<DataType>(i));
        const InputData a = std::move(MakeRandom(info)[1]);
        const InputData b = std::move(MakeRandom(info)[1]);
        ASSERT_EQ(a.m_Data.Size(), info.GetNumBytes());
        EXPECT_EQ(std::memcmp(a.m_Data.Data(), b.m_Data.Data(), a.m_Data.Size()), 0)
            << GetDataTypeName(info.GetDataType());
        std::set<double> values;
        for (size_t k = 0; k < 50; ++k)
        {
            const double value = GetElement(info.GetDataType(), a.m_Data.Data(), k);
            values.insert(value);
            EXPECT_TRUE(std::isfinite(value));
            if (!info.IsQuantized())
            {
                EXPECT_LE(std::fabs(value), 1.0) << GetDataTypeName(info.GetDataType());
            }
        }
        EXPECT_GE(values.size(), 2U) << GetDataTypeName(info.GetDataType());
    }
    const TensorInfo floats({8}, DataType::Float32);
    const std::vector<InputData> two = MakeRandom(floats);
    EXPECT_NE(First(two[0]), First(two[1]));
}

TEST_F(Inputs, RandomValuesMayBeGaussian)
{
    constexpr unsigned int count = 20000;
    const auto valuesOf = [&](const TensorInfo& info, uint64_t set)
    {
        const InputData data = std::move(MakeRandom(info, Distribution::Gaussian, set)[0]);
        std::vector<double> values;
        for (size_t i = 0; i < count; ++i)
        {
            values.push_back(GetElement(info.GetDataType(), data.m_Data.Data(), i));
        }
        return values;
    };
    // Of a range of 3 standard deviations the truncated distribution has 0.744 of the deviation.
    const auto expectGaussian = [&](const TensorInfo& info, double min, double max)
    {
        const std::vector<double> values = valuesOf(info, 0);
        const Statistics statistics = ComputeStatistics(values).value();
        const double deviation = (max - min) / 3.0;
        EXPECT_NEAR(statistics.m_Mean, 0.5 * (min + max), 0.03 * deviation) << GetDataTypeName(info.GetDataType());
        EXPECT_NEAR(statistics.m_Std, 0.744 * deviation, 0.03 * deviation) << GetDataTypeName(info.GetDataType());
        EXPECT_GE(statistics.m_Min, min);
        EXPECT_LT(statistics.m_Max, max + 1e-3);
        EXPECT_EQ(values, valuesOf(info, 0));
        EXPECT_NE(values, valuesOf(info, 1)) << "another set";
    };
    expectGaussian(TensorInfo({count}, DataType::Float32), -1.0, 1.0);
    expectGaussian(TensorInfo({count}, DataType::Float16), -1.0, 1.0);
    expectGaussian(TensorInfo({count}, DataType::QAsymmU8, 0.5f, 3), 0.0, 255.0);
    expectGaussian(TensorInfo({count}, DataType::QAsymmS8, 0.5f, 3), -128.0, 127.0);
    expectGaussian(TensorInfo({count}, DataType::QSymmS16, 0.5f), -32768.0, 32767.0);
    const std::vector<double> indices = valuesOf(TensorInfo({count}, DataType::Signed32), 0);
    EXPECT_EQ(std::set<double>(indices.begin(), indices.end()), (std::set<double>{0.0, 1.0}));
    EXPECT_EQ(ComputeStatistics(valuesOf(TensorInfo({count}, DataType::QSymmS4, 1.0f), 0)).value().m_Min, -8.0);
}

} // namespace
} // namespace tenon::tools
