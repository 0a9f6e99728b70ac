// SPDX-License-Identifier: Apache-2.0
// Small cases of ONNX's quantized operators, and of those of com.microsoft. Expected numbers are ONNX Runtime's (1.32,
// without optimizations) unless a comment says otherwise. Scales and zero points are constants and inputs.
#include "OperatorCase.hpp"
#include "common/HalfFloat.hpp"

#include <tenon/IStrategy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tenon::test::onnx_quantization_test
{

using namespace operator_case;
using testing::AllOf;
using testing::HasSubstr;

namespace
{

constexpr float Infinity = std::numeric_limits<float>::infinity();
constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

using Lengths = std::vector<unsigned int>;

Operand U8(const Lengths& sizes, const std::vector<uint8_t>& values)
{
    return Of(sizes, values);
}

Operand S8(const Lengths& sizes, const std::vector<int8_t>& values)
{
    return Of(sizes, values);
}

Operand U16(const Lengths& sizes, const std::vector<uint16_t>& values)
{
    return Of(sizes, values);
}

Operand S16(const Lengths& sizes, const std::vector<int16_t>& values)
{
    return Of(sizes, values);
}

Operand S32(const Lengths& sizes, const std::vector<int32_t>& values)
{
    return Of(sizes, values);
}

Operand U4(const Lengths& sizes, const std::vector<int>& values)
{
    return FourBits(ElementType::UInt4, sizes, values);
}

Operand S4(const Lengths& sizes, const std::vector<int>& values)
{
    return FourBits(ElementType::Int4, sizes, values);
}

Operand H(const Lengths& sizes, const std::vector<float>& values)
{
    std::vector<uint16_t> halves;
    for (const float value : values)
    {
        halves.push_back(FloatToHalf(value));
    }
    Operand operand = Of(sizes, halves);
    operand.m_Data.m_Info.SetDataType(DataType::Float16);
    return operand;
}

/// One element of a byte, of a type that only the model can have.
Operand Stored8Bits(ElementType type)
{
    return {{TensorInfo(ShapeOf({}), DataType::Unsigned8), {0}}, true, false, type};
}

/// [2, 3] zeros of the type of a zero point.
Operand Zeros(const Operand& zero)
{
    const TensorInfo info({2, 3}, zero.m_Data.m_Info.GetDataType());
    return {{info, std::vector<uint8_t>(info.GetNumBytes())}, false, false, ElementType::Undefined};
}

/// The first two numbers of one list and the last two of another.
std::vector<int32_t> Joined(const std::vector<int32_t>& first, const std::vector<int32_t>& last)
{
    return {first.at(0), first.at(1), last.at(2), last.at(3)};
}

/// The same with scales and zero points as inputs: constants of at most one dimension, but for a bias.
Case WithFedScales(Case c)
{
    for (Operand& operand : c.m_Inputs)
    {
        const TensorInfo& info = operand.m_Data.m_Info;
        const bool isScale = !operand.m_IsAbsent && info.GetNumDimensions() <= 1 &&
                             info.GetDataType() != DataType::Signed32 && operand.m_StoredType == ElementType::Undefined;
        operand.m_IsStored = operand.m_IsStored && !isScale;
    }
    return c;
}

void CheckBothWays(const std::vector<Case>& cases)
{
    for (const Case& c : cases)
    {
        Check(c);
        SCOPED_TRACE("scales are fed");
        Check(WithFedScales(c));
    }
}

/// The same for operators of com.microsoft, which the model does not import.
void CheckMicrosoft(std::vector<Case> cases)
{
    constexpr int64_t Opset = 17;
    for (Case& c : cases)
    {
        c.m_Version = Opset;
        c.m_Domain = "com.microsoft";
    }
    CheckBothWays(cases);
}

/// The layers of a model, each type once for each layer.
struct LayerTypes : IStrategy
{
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>&, const char*, LayerBindingId) override
    {
        m_Types.insert(layer->GetType());
        if (layer->GetType() == LayerType::Quantize)
        {
            m_Mode = static_cast<const QuantizeDescriptor&>(descriptor).m_Requantization;
        }
    }

    std::multiset<LayerType> m_Types;
    std::optional<RequantizationMode> m_Mode;
};

} // namespace

// Divided in Float32, rounded with halves to even, then the zero point is added.
TEST(OnnxQuantization, QuantizeLinear)
{
    CheckBothWays({
        {"QuantizeLinear",
         10,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 1.25f, 1.75f, 100, -100}), Kept(F({}, {0.5f})), Kept(U8({}, {10}))},
         {},
         {U8({2, 4}, {10, 10, 12, 8, 12, 14, 210, 0})}},
        {"QuantizeLinear",
         13,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 1.25f, 1.75f, 100, -100}), Kept(F({}, {0.5f})), Kept(S8({}, {-3}))},
         {},
         {S8({2, 4}, {-3, -3, -1, -5, -1, 1, 127, -128})}},
        {"QuantizeLinear",
         13,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 1.25f, 1.75f, 100, -100}), Kept(F({}, {0.5f}))},
         {},
         {U8({2, 4}, {0, 0, 2, 0, 2, 4, 200, 0})}},
        {"QuantizeLinear",
         19,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 1.25f, 1.75f, 100, -100}), Kept(F({}, {0.5f})), Kept(U8({}, {0}))},
         {},
         {U8({2, 4}, {0, 0, 2, 0, 2, 4, 200, 0})}},
        {"QuantizeLinear",
         10,
         {F({3}, {0.3f, -0.3f, 7}), Kept(F({}, {0.1f})), Kept(U8({}, {128}))},
         {},
         {U8({3}, {131, 125, 198})}},
        {"QuantizeLinear",
         13,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 1.25f, 1.75f, 100, -100}), Kept(F({1}, {0.5f})), Kept(U8({1}, {7}))},
         {},
         {U8({2, 4}, {7, 7, 9, 5, 9, 11, 207, 0})}},
        {"QuantizeLinear",
         13,
         {F({1, 4}, {Infinity, -Infinity, 1e+30f, -1e+30f}), Kept(F({}, {0.5f})), Kept(S8({}, {10}))},
         {},
         {S8({1, 4}, {127, -128, 127, -128})}},
        {"QuantizeLinear",
         13,
         {S32({1, 4}, {1, -1, 3, 1000}), Kept(F({}, {2})), Kept(U8({}, {10}))},
         {},
         {U8({1, 4}, {10, 10, 12, 255})}},
        {"QuantizeLinear",
         19,
         {H({1, 4}, {0.25f, -0.25f, 0.75f, 300}), Kept(H({}, {0.5f})), Kept(U8({}, {10}))},
         {},
         {U8({1, 4}, {10, 10, 12, 255})}},
    });
}

TEST(OnnxQuantization, QuantizeLinearOf16Bits)
{
    CheckBothWays({
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f})),
          Kept(U16({}, {100}))},
         {},
         {U16({2, 4}, {100, 100, 102, 98, 32100, 34100, 0, 65535})}},
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f})),
          Kept(U16({}, {0}))},
         {},
         {U16({2, 4}, {0, 0, 2, 0, 32000, 34000, 0, 65535})}},
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f})),
          Kept(S16({}, {0}))},
         {},
         {S16({2, 4}, {0, 0, 2, -2, 32000, 32767, -32768, 32767})}},
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f})),
          Kept(S16({}, {-5}))},
         {},
         {S16({2, 4}, {-5, -5, -3, -7, 31995, 32767, -32768, 32767})}},
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f}))},
         {Attribute("output_dtype", 5)},
         {S16({2, 4}, {0, 0, 2, -2, 32000, 32767, -32768, 32767})}},
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f}))},
         {Attribute("output_dtype", 4)},
         {U16({2, 4}, {0, 0, 2, 0, 32000, 34000, 0, 65535})}},
        {"QuantizeLinear",
         21,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f}))},
         {Attribute("output_dtype", 3)},
         {S8({2, 4}, {0, 0, 2, -2, 127, 127, -128, 127})}},
    });
}

TEST(OnnxQuantization, QuantizeLinearPerAxis)
{
    CheckBothWays({
        {"QuantizeLinear",
         13,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2})), Kept(S8({3}, {0, 0, 0}))},
         {},
         {S8({2, 3}, {0, 2, 4, -2, -2, -128})}},
        {"QuantizeLinear",
         13,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2})), Kept(S8({3}, {0, 1, -5}))},
         {Attribute("axis", -1)},
         {S8({2, 3}, {0, 3, -1, -2, -1, -128})}},
        {"QuantizeLinear",
         13,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2})), Kept(U8({3}, {0, 100, 200}))},
         {Attribute("axis", 1)},
         {U8({2, 3}, {0, 102, 204, 0, 98, 50})}},
        {"QuantizeLinear",
         13,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2}))},
         {},
         {U8({2, 3}, {0, 2, 4, 0, 0, 0})}},
        {"QuantizeLinear",
         13,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({2}, {0.5f, 0.25f})), Kept(S8({2}, {0, 0}))},
         {Attribute("axis", -2)},
         {S8({2, 3}, {0, 3, 18, -3, -10, -128})}},
        {"QuantizeLinear",
         13,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({2}, {0.5f, 0.25f})), Kept(S8({2}, {0, 3}))},
         {Attribute("axis", 0)},
         {S8({2, 3}, {0, 3, 18, 0, -7, -128})}},
        {"QuantizeLinear",
         21,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2})), Kept(U16({3}, {0, 100, 200}))},
         {Attribute("axis", 1)},
         {U16({2, 3}, {0, 102, 204, 0, 98, 50})}},
        {"QuantizeLinear",
         21,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2})), Kept(S16({3}, {0, 0, 0}))},
         {Attribute("axis", 1)},
         {S16({2, 3}, {0, 2, 4, -2, -2, -150})}},
        {"QuantizeLinear",
         13,
         {F({1, 2, 1, 2}, {1.5f, 2.5f, 1.5f, 2.5f}), Kept(F({2}, {1, 0.5f})), Kept(S8({2}, {0, 0}))},
         {},
         {S8({1, 2, 1, 2}, {2, 2, 3, 5})}},
        {"QuantizeLinear",
         13,
         {F({3}, {1.5f, 2.5f, -3.5f}), Kept(F({3}, {1, 1, 0.5f})), Kept(S8({3}, {0, 0, 0}))},
         {Attribute("axis", 0)},
         {S8({3}, {2, 2, -7})}},
    });
}

TEST(OnnxQuantization, DequantizeLinear)
{
    CheckBothWays({
        {"DequantizeLinear",
         10,
         {U8({1, 4}, {0, 10, 11, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {10}))},
         {},
         {F({1, 4}, {-5, 0, 0.5f, 122.5f})}},
        {"DequantizeLinear",
         13,
         {S8({1, 4}, {-128, -3, 0, 127}), Kept(F({}, {0.5f})), Kept(S8({}, {-3}))},
         {},
         {F({1, 4}, {-62.5f, 0, 1.5f, 65})}},
        {"DequantizeLinear",
         13,
         {S8({1, 4}, {-128, -3, 0, 127}), Kept(F({}, {0.5f}))},
         {},
         {F({1, 4}, {-64, -1.5f, 0, 63.5f})}},
        {"DequantizeLinear", 13, {U8({3}, {0, 1, 255}), Kept(F({}, {0.5f}))}, {}, {F({3}, {0, 0.5f, 127.5f})}},
        {"DequantizeLinear",
         13,
         {S32({1, 3}, {-1000000, 0, 7}), Kept(F({}, {0.5f}))},
         {},
         {F({1, 3}, {-500000, 0, 3.5f})}},
        {"DequantizeLinear",
         13,
         {S32({1, 3}, {-1000000, 0, 7}), Kept(F({}, {0.5f})), Kept(S32({}, {0}))},
         {},
         {F({1, 3}, {-500000, 0, 3.5f})}},
        {"DequantizeLinear",
         21,
         {U16({1, 3}, {0, 100, 65535}), Kept(F({}, {0.5f})), Kept(U16({}, {100}))},
         {},
         {F({1, 3}, {-50, 0, 32717.5f})}},
        {"DequantizeLinear",
         21,
         {S16({1, 3}, {-32768, 0, 32767}), Kept(F({}, {0.5f})), Kept(S16({}, {0}))},
         {},
         {F({1, 3}, {-16384, 0, 16383.5f})}},
        {"DequantizeLinear",
         21,
         {S16({1, 3}, {-32768, 0, 32767}), Kept(F({}, {0.5f})), Kept(S16({}, {5}))},
         {},
         {F({1, 3}, {-16386.5f, -2.5f, 16381})}},
        {"DequantizeLinear",
         13,
         {U8({1, 2}, {0, 12}), Kept(F({1}, {0.5f})), Kept(U8({1}, {10}))},
         {},
         {F({1, 2}, {-5, 1})}},
        {"DequantizeLinear",
         19,
         {U8({1, 3}, {0, 10, 255}), Kept(H({}, {0.5f})), Kept(U8({}, {10}))},
         {},
         {H({1, 3}, {-5, 0, 122.5f})}},
        {"DequantizeLinear",
         19,
         {S8({2, 3}, {1, 2, 3, -1, -2, -128}), Kept(H({3}, {0.5f, 1, 2})), Kept(S8({3}, {0, 0, 0}))},
         {},
         {H({2, 3}, {0.5f, 2, 6, -0.5f, -2, -256})}},
    });
}

TEST(OnnxQuantization, DequantizeLinearPerAxis)
{
    CheckBothWays({
        {"DequantizeLinear",
         13,
         {S8({2, 3}, {1, 2, 3, -1, -2, -128}), Kept(F({3}, {0.5f, 1, 2})), Kept(S8({3}, {0, 0, 0}))},
         {},
         {F({2, 3}, {0.5f, 2, 6, -0.5f, -2, -256})}},
        {"DequantizeLinear",
         13,
         {S8({2, 3}, {1, 2, 3, -1, -2, -128}), Kept(F({3}, {0.5f, 1, 2}))},
         {},
         {F({2, 3}, {0.5f, 2, 6, -0.5f, -2, -256})}},
        {"DequantizeLinear",
         13,
         {S8({2, 3}, {1, 2, 3, -1, -2, -128}), Kept(F({3}, {0.5f, 1, 2})), Kept(S8({3}, {0, 1, -5}))},
         {Attribute("axis", -1)},
         {F({2, 3}, {0.5f, 1, 16, -0.5f, -3, -246})}},
        {"DequantizeLinear",
         13,
         {S8({2, 3}, {1, 2, 3, -1, -2, -128}), Kept(F({2}, {0.5f, 0.25f})), Kept(S8({2}, {0, 0}))},
         {Attribute("axis", 0)},
         {F({2, 3}, {0.5f, 1, 1.5f, -0.25f, -0.5f, -32})}},
        {"DequantizeLinear",
         13,
         {U8({2, 3}, {1, 2, 3, 4, 5, 255}), Kept(F({2}, {0.5f, 0.25f})), Kept(U8({2}, {0, 100}))},
         {Attribute("axis", -2)},
         {F({2, 3}, {0.5f, 1, 1.5f, -24, -23.75f, 38.75f})}},
        {"DequantizeLinear",
         13,
         {S32({2}, {100, -100}), Kept(F({2}, {0.5f, 0.25f}))},
         {Attribute("axis", 0)},
         {F({2}, {50, -25})}},
        {"DequantizeLinear",
         21,
         {S16({2, 2}, {1, -2, 300, -400}), Kept(F({2}, {0.5f, 2})), Kept(S16({2}, {0, 0}))},
         {},
         {F({2, 2}, {0.5f, -4, 150, -800})}},
    });
}

// The last block is short where the size is not a multiple of block_size. Scales and zero points of two dimensions are
// stored in these cases; those of the last ones are fed.
TEST(OnnxQuantization, Blocks)
{
    Check({
        {"DequantizeLinear",
         21,
         {S8({2, 5}, {1, 2, 3, 4, 5, -1, -2, -3, -4, -5}), Kept(F({2, 3}, {0.5f, 1, 2, 4, 0.25f, 8}))},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {F({2, 5}, {0.5f, 1, 3, 4, 10, -4, -8, -0.75f, -1, -40})},
         NeedsSizes},
        {"DequantizeLinear",
         21,
         {S8({2, 5}, {1, 2, 3, 4, 5, -1, -2, -3, -4, -5}), Kept(F({2, 3}, {0.5f, 1, 2, 4, 0.25f, 8})),
          Kept(S8({2, 3}, {0, 1, 2, 3, 4, 5}))},
         {Attribute("axis", -1), Attribute("block_size", 2)},
         {F({2, 5}, {0.5f, 1, 2, 3, 6, -16, -20, -1.75f, -2, -80})},
         NeedsSizes},
        {"DequantizeLinear",
         21,
         {U8({3, 2}, {1, 2, 3, 4, 5, 6}), Kept(F({2, 2}, {0.5f, 1, 2, 4})), Kept(U8({2, 2}, {1, 0, 2, 0}))},
         {Attribute("axis", 0), Attribute("block_size", 2)},
         {F({3, 2}, {0, 2, 1, 4, 6, 24})},
         NeedsSizes},
        {"DequantizeLinear",
         21,
         {U16({1, 4}, {1, 2, 3, 60000}), Kept(F({1, 2}, {0.5f, 2})), Kept(U16({1, 2}, {1, 3}))},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {F({1, 4}, {0, 0.5f, 0, 119994})},
         NeedsSizes},
        {"QuantizeLinear",
         21,
         {F({2, 5}, {1, 2.5f, 3, 4, 5, -1, -2, -3, -400, -5}), Kept(F({2, 3}, {0.5f, 1, 2, 4, 0.25f, 8})),
          Kept(S8({2, 3}, {0, 1, 2, 3, 4, 5}))},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {S8({2, 5}, {2, 5, 4, 5, 4, 3, 3, -8, -128, 4})},
         NeedsSizes},
        {"QuantizeLinear",
         21,
         {F({2, 5}, {1, 2.5f, 3, 4, 5, 1, 2, 3, 400, 5}), Kept(F({2, 3}, {0.5f, 1, 2, 4, 0.25f, 8}))},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {U8({2, 5}, {2, 5, 3, 4, 2, 0, 0, 12, 255, 1})},
         NeedsSizes},
        {"QuantizeLinear",
         21,
         {F({1, 2}, {1, 2.5f}), Kept(F({1, 2}, {0.5f, 1})), Kept(U8({1, 2}, {0, 1}))},
         {Attribute("axis", 1), Attribute("block_size", 1)},
         {U8({1, 2}, {2, 3})},
         NeedsSizes},
        {"DequantizeLinear",
         21,
         {S8({1, 3}, {1, 2, 3}), F({1, 2}, {0.5f, 2}), S8({1, 2}, {1, -1})},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {F({1, 3}, {0, 0.5f, 8})},
         NeedsSizes},
        {"QuantizeLinear",
         21,
         {F({1, 3}, {1, 2, 3}), F({1, 2}, {0.5f, 2}), S8({1, 2}, {1, -1})},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {S8({1, 3}, {3, 5, 1})},
         NeedsSizes},
    });
}

// Constants of int4 and uint4.
TEST(OnnxQuantization, FourBits)
{
    CheckBothWays({
        {"DequantizeLinear",
         21,
         {S4({2, 3}, {-8, -1, 0, 1, 5, 7}), Kept(F({}, {0.5f}))},
         {},
         {F({2, 3}, {-4, -0.5f, 0, 0.5f, 2.5f, 3.5f})}},
        {"DequantizeLinear",
         21,
         {S4({2, 3}, {-8, -1, 0, 1, 5, 7}), Kept(F({}, {0.5f})), S4({}, {-2})},
         {},
         {F({2, 3}, {-3, 0.5f, 1, 1.5f, 3.5f, 4.5f})}},
        {"DequantizeLinear",
         21,
         {S4({2, 3}, {-8, -1, 0, 1, 5, 7}), Kept(F({3}, {0.5f, 1, 2})), S4({3}, {1, 0, -1})},
         {},
         {F({2, 3}, {-4.5f, -1, 2, 0, 5, 16})}},
        {"DequantizeLinear",
         21,
         {U4({5}, {0, 1, 8, 14, 15}), Kept(F({}, {0.5f})), U4({}, {8})},
         {},
         {F({5}, {-4, -3.5f, 0, 3, 3.5f})}},
        {"DequantizeLinear",
         21,
         {S4({1, 5}, {-8, -1, 0, 1, 7}), Kept(F({1, 3}, {0.5f, 1, 2})), S4({1, 3}, {1, 0, -1})},
         {Attribute("axis", 1), Attribute("block_size", 2)},
         {F({1, 5}, {-4.5f, -1, 0, 1, 16})}},
        {"DequantizeLinear",
         21,
         {U4({3, 1}, {0, 8, 15}), Kept(H({2, 1}, {0.5f, 1})), U4({2, 1}, {8, 1})},
         {Attribute("axis", 0), Attribute("block_size", 2)},
         {H({3, 1}, {-4, 0, 14})}},
    });
}

// Quantized to 4 bits and back: saturated at 0 and 15, and at -8 and 7.
TEST(OnnxQuantization, FourBitsWithinTheModel)
{
    const std::vector<float> values = {-100, -0.25f, 0.25f, 0.75f, 2, 100};
    for (const auto& [type, zero, expected] :
         {std::tuple{ElementType::UInt4, 2, std::vector<float>{-1, 0, 0, 1, 2, 6.5f}},
          std::tuple{ElementType::Int4, -3, std::vector<float>{-2.5f, 0, 0, 1, 2, 5}}})
    {
        const Operand point = FourBits(type, {}, {zero});
        const Wire bytes(point.m_Data.m_Bytes.begin(), point.m_Data.m_Bytes.end());
        const Wire model = Model(Graph()
                                     .Input("x", {6})
                                     .Store(Floats("scale", {}, {0.5f}))
                                     .Store(TensorOf("zero", type, {}, Message(9, bytes)))
                                     .Add("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
                                     .Add("DequantizeLinear", {"q", "scale", "zero"}, {"y"})
                                     .Output("y"),
                                 21);
        EXPECT_EQ(RunModel(model, {List(values)}).at(0).Floats(), expected);
        // Without a zero point the type is told by output_dtype.
        const Wire told = Model(
            Graph()
                .Input("x", {6})
                .Store(Floats("scale", {}, {0.5f}))
                .Add("QuantizeLinear", {"x", "scale"}, {"q"}, {Attribute("output_dtype", static_cast<int64_t>(type))})
                .Add("DequantizeLinear", {"q", "scale"}, {"y"})
                .Output("y"),
            21);
        EXPECT_EQ(RunModel(told, {List(values)}).at(0).Floats(), type == ElementType::UInt4
                                                                     ? (std::vector<float>{0, 0, 0, 1, 2, 7.5f})
                                                                     : (std::vector<float>{-4, 0, 0, 1, 2, 3.5f}));
    }
}

// The lowest number, as ONNX Runtime gives on x86-64. ONNX leaves it open.
TEST(OnnxQuantization, NaNBecomesTheLowestNumber)
{
    CheckBothWays({
        {"QuantizeLinear",
         13,
         {F({1, 2}, {NaN, 1}), Kept(F({}, {0.5f})), Kept(S8({}, {10}))},
         {},
         {S8({1, 2}, {-128, 12})}},
        {"QuantizeLinear",
         13,
         {F({1, 2}, {NaN, 1}), Kept(F({}, {0.5f})), Kept(U8({}, {10}))},
         {},
         {U8({1, 2}, {0, 12})}},
    });
}

// Constants that a type of Tenon's carries; all else is computed by formulas.
TEST(OnnxQuantization, LayersOfConstantsAndFormulas)
{
    const auto read = [](const char* name, const Operand& x, const Operand& scale, const Operand& zero)
    {
        std::vector<Data> fed;
        const Parsed parsed(Build({name, 21, {x, scale, zero}, {}, {x}}, Given::Fixed, fed));
        LayerTypes layers;
        parsed.m_Network->ExecuteStrategy(layers);
        return layers;
    };
    const Operand x = F({2, 3}, {1, 2, 3, 4, 5, 6});
    const Operand scale = Kept(F({}, {0.5f}));
    const Operand scales = Kept(F({3}, {0.5f, 1, 2}));
    for (const auto& [numbers, zero] :
         {std::pair{scale, Kept(U8({}, {3}))}, std::pair{scale, Kept(S8({}, {3}))}, std::pair{scale, None()},
          std::pair{scale, Kept(S16({}, {0}))}, std::pair{scales, Kept(S8({3}, {0, 0, 0}))},
          std::pair{scales, Kept(S16({3}, {0, 0, 0}))}})
    {
        const LayerTypes layers = read("QuantizeLinear", x, numbers, zero);
        EXPECT_EQ(layers.m_Types.count(LayerType::Quantize), 1U);
        EXPECT_EQ(layers.m_Types.count(LayerType::ElementwiseBinary), 0U);
        EXPECT_EQ(layers.m_Mode, RequantizationMode::FloatHalfEven);
        const Operand stored = zero.m_IsAbsent ? U8({2, 3}, {0, 0, 0, 0, 0, 0}) : Zeros(zero);
        EXPECT_EQ(read("DequantizeLinear", stored, numbers, zero).m_Types.count(LayerType::Dequantize), 1U);
    }
    for (const auto& [numbers, zero] :
         {std::pair{scale, Kept(U16({}, {3}))}, std::pair{scale, Kept(S16({}, {3}))},
          std::pair{scales, Kept(U8({3}, {0, 0, 0}))}, std::pair{scales, Kept(S8({3}, {0, 1, 0}))},
          std::pair{F({}, {0.5f}), Kept(U8({}, {3}))}, std::pair{scale, U8({}, {3})},
          std::pair{Kept(F({}, {0})), Kept(U8({}, {3}))}})
    {
        EXPECT_EQ(read("QuantizeLinear", x, numbers, zero).m_Types.count(LayerType::Quantize), 0U);
        EXPECT_EQ(read("DequantizeLinear", Zeros(zero), numbers, zero).m_Types.count(LayerType::Dequantize), 0U);
    }
}

// The range of the numbers, and 0: of negative ones alone, of positive ones alone, of nothing but zeros.
TEST(OnnxQuantization, DynamicQuantizeLinear)
{
    Check({
        {"DynamicQuantizeLinear",
         11,
         {F({2, 3}, {0, 2, -3, -2.5f, 1.34f, 0.5f})},
         {},
         {U8({2, 3}, {153, 255, 0, 26, 221, 179}), F({}, {0.019607844f}), U8({}, {153})}},
        {"DynamicQuantizeLinear",
         11,
         {F({2, 3}, {-1, -2.1f, -1.3f, -2.5f, -3.34f, -4})},
         {},
         {U8({2, 3}, {191, 121, 172, 96, 42, 0}), F({}, {0.015686275f}), U8({}, {255})}},
        {"DynamicQuantizeLinear",
         11,
         {F({2, 3}, {1, 2.1f, 1.3f, 2.5f, 3.34f, 4})},
         {},
         {U8({2, 3}, {64, 134, 83, 159, 213, 255}), F({}, {0.015686275f}), U8({}, {0})}},
        {"DynamicQuantizeLinear",
         11,
         {F({2, 3}, {0, 0, 0, 0, 0, 0})},
         {},
         {U8({2, 3}, {0, 0, 0, 0, 0, 0}), F({}, {1}), U8({}, {0})}},
        {"DynamicQuantizeLinear", 11, {F({}, {2})}, {}, {U8({}, {255}), F({}, {0.007843138f}), U8({}, {0})}},
    });
}

// The last four have zero points by row, or operands of one dimension, which ONNX Runtime refuses: computed by NumPy.
TEST(OnnxQuantization, MatMulInteger)
{
    CheckBothWays({
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), S8({3, 2}, {1, -128, 3, 4, -5, 127})},
         {},
         {S32({2, 2}, {-1268, 32265, 349, 1401})}},
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(U8({}, {128})),
          Kept(S8({}, {-3}))},
         {},
         {S32({2, 2}, {-1518, 31503, -270, 270})}},
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(U8({1}, {5})),
          Kept(S8({2}, {1, -2}))},
         {},
         {S32({2, 2}, {-1506, 32736, 234, 1626})}},
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), U8({3, 2}, {1, 255, 3, 4, 0, 127}), Kept(U8({}, {128})),
          Kept(U8({2}, {0, 200}))},
         {},
         {S32({2, 2}, {-505, 8440, -128, 1793})}},
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), U8({3, 2}, {1, 255, 3, 4, 0, 127})},
         {},
         {S32({2, 2}, {7, 32648, 384, 1401})}},
        {"MatMulInteger",
         10,
         {S8({2, 3}, {1, -2, -128, 0, 127, 7}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), None(), Kept(S8({}, {7}))},
         {},
         {S32({2, 2}, {1538, -15489, -592, 459})}},
        {"MatMulInteger",
         10,
         {U8({2, 1, 3}, {1, 2, 3, 4, 5, 6}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(U8({}, {3}))},
         {},
         {S32({2, 1, 2}, {-5, 252, -8, 261})}},
        {"MatMulInteger",
         10,
         {U8({2, 1, 2}, {1, 2, 3, 4}), S8({2, 2, 1}, {1, -1, 2, 5}), Kept(U8({}, {1})), Kept(S8({}, {1}))},
         {},
         {S32({2, 1, 1}, {-2, 14})}},
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(U8({2}, {5, 128})),
          Kept(S8({2}, {1, -2}))},
         {},
         {S32({2, 2}, {-1506, 32736, 726, 519})}},
        {"MatMulInteger",
         10,
         {U8({3}, {1, 2, 255}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(U8({}, {5})), Kept(S8({}, {3}))},
         {},
         {S32({2}, {-1992, 31521})}},
        {"MatMulInteger",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), S8({3}, {-128, 4, 127}), Kept(U8({}, {5})), Kept(S8({}, {3}))},
         {},
         {S32({2}, {31521, 1026})}},
        {"MatMulInteger",
         10,
         {U8({3}, {1, 2, 255}), S8({3}, {-128, 4, 127}), Kept(U8({}, {5})), Kept(S8({}, {3}))},
         {},
         {S32({}, {31521})}},
    });
}

// Padding is the zero point. The third case, zero points of weights by channel, is computed by onnx.reference.
TEST(OnnxQuantization, ConvInteger)
{
    CheckBothWays({
        {"ConvInteger",
         10,
         {U8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 255}), Kept(U8({1, 1, 2, 2}, {1, 1, 1, 0})), Kept(U8({}, {1}))},
         {},
         {S32({1, 1, 2, 2}, {7, 10, 16, 19})}},
        {"ConvInteger",
         10,
         {U8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 255}), Kept(U8({1, 1, 2, 2}, {1, 1, 1, 0})), Kept(U8({}, {1}))},
         {Attribute("pads", Sizes{1, 1, 1, 1})},
         {S32({1, 1, 4, 4}, {0, 1, 2, 3, 1, 7, 10, 9, 4, 16, 19, 260, 7, 15, 262, 254})}},
        {"ConvInteger",
         10,
         {U8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 255}), Kept(U8({2, 1, 2, 2}, {1, 2, 3, 4, 255, 0, 7, 8})),
          Kept(U8({}, {1})), Kept(U8({2}, {3, 128}))},
         {},
         {S32({1, 2, 2, 2}, {1, -1, -5, 238, -1213, -1455, -1939, -31581})}},
        {"ConvInteger",
         10,
         {U8({1, 2, 3}, {1, 2, 3, 4, 5, 6}), Kept(U8({2, 1, 2}, {1, 2, 3, 4})), None(), Kept(U8({}, {2}))},
         {Attribute("group", 2)},
         {S32({1, 2, 2}, {-1, -2, 14, 17})}},
        {"ConvInteger",
         10,
         {U8({1, 1, 4}, {1, 2, 3, 255}), Kept(U8({1, 1, 2}, {200, 2})), Kept(U8({}, {10}))},
         {Attribute("strides", Sizes{2})},
         {S32({1, 1, 2}, {-1816, -910})}},
    });
}

// Sums up to 2^24 are computed at once; deeper ones from halves of the bits of the weights, and then of the data. The
// numbers are the largest differences, but for some whose last bits would be lost.
TEST(OnnxQuantization, ConvIntegerOfManyProducts)
{
    for (const unsigned int depth : {258U, 259U, 4112U, 4113U, 20000U})
    {
        const bool isDeep = depth > 10000;
        std::vector<uint8_t> bytes(size_t{depth} * 2);
        std::vector<uint8_t> weights(size_t{depth} * 2);
        std::vector<int8_t> signedWeights(size_t{depth} * 2);
        for (size_t i = 0; i < bytes.size(); ++i)
        {
            bytes[i] = static_cast<uint8_t>(255 - i * 7 % 11 % 3);
            weights[i] = static_cast<uint8_t>(i < depth ? 255 - i % 5 % 2 : i * 37 % 256);
            signedWeights[i] = static_cast<int8_t>(i < depth ? -128 : static_cast<int>(i * 37 % 256) - 128);
        }
        const auto convolve = [&](const auto& kernel, int zero, int kernelZero)
        {
            std::vector<int32_t> sums;
            for (size_t filter = 0; filter < 2; ++filter)
            {
                for (size_t place = 0; place < 2; ++place)
                {
                    int64_t sum = 0;
                    for (size_t i = 0; i < depth; ++i)
                    {
                        sum += int64_t{bytes[i * 2 + place] - zero} * (kernel[filter * depth + i] - kernelZero);
                    }
                    sums.push_back(static_cast<int32_t>(sum));
                }
            }
            return sums;
        };
        SCOPED_TRACE(depth);
        const Operand x = U8({1, depth, 1, 2}, bytes);
        Check({
            {"ConvInteger",
             10,
             {x, Kept(U8({2, depth, 1, 1}, weights))},
             {},
             {S32({1, 2, 1, 2}, convolve(weights, 0, 0))}},
            {"ConvInteger",
             10,
             {x, Kept(S8({2, depth, 1, 1}, signedWeights)), Kept(U8({}, {3})), Kept(S8({}, {127}))},
             {},
             {S32({1, 2, 1, 2}, convolve(signedWeights, 3, 127))}},
        });
        if (isDeep)
        {
            Check({"ConvInteger",
                   10,
                   {x, Kept(U8({2, depth, 1, 1}, weights)), Kept(U8({}, {128})), Kept(U8({2}, {128, 1}))},
                   {},
                   {S32({1, 2, 1, 2}, Joined(convolve(weights, 128, 128), convolve(weights, 128, 1)))}});
        }
    }
    constexpr unsigned int TooDeep = 65537;
    std::vector<Data> fed;
    const Case deep = {"ConvInteger",
                       10,
                       {U8({1, TooDeep, 1, 1}, std::vector<uint8_t>(TooDeep)),
                        Kept(U8({1, TooDeep, 1, 1}, std::vector<uint8_t>(TooDeep)))},
                       {},
                       {Operand()}};
    EXPECT_THAT(ErrorOf<UnimplementedException>(Build(deep, Given::Fixed, fed)),
                HasSubstr("sums of 65537 products are not supported"));
}

// Scales are powers of two: the float meaning and ONNX Runtime's requantization of sums agree in every bit.
TEST(OnnxQuantization, QLinearConv)
{
    CheckBothWays({
        {"QLinearConv",
         10,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(U8({2, 2, 2, 2}, {129, 130, 125, 132, 133, 122, 135, 136, 119, 138, 139, 116, 141, 142, 143, 112})),
          Kept(F({}, {0.25f})), Kept(U8({}, {128})), Kept(F({}, {8})), Kept(U8({}, {100}))},
         {},
         {U8({1, 2, 1, 1}, {118, 99})}},
        {"QLinearConv",
         10,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({2, 2, 2, 2}, {1, 2, -3, 4, 5, -6, 7, 8, -9, 10, 11, -12, 13, 14, 15, -16})),
          Kept(F({2}, {0.25f, 0.5f})), Kept(S8({2}, {0, 0})), Kept(F({}, {16})), Kept(U8({}, {100})),
          Kept(S32({2}, {100, -300}))},
         {},
         {U8({1, 2, 1, 1}, {110, 95})}},
        {"QLinearConv",
         10,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({2, 2, 1, 1}, {1, 2, -3, 4})), Kept(F({}, {0.25f})), Kept(S8({}, {0})), Kept(F({}, {4})),
          Kept(U8({}, {100})), Kept(S32({2}, {100, -300}))},
         {Attribute("pads", Sizes{1, 0, 0, 1})},
         {U8({1, 2, 3, 3}, {103, 103, 103, 99, 95, 103, 108, 103, 103, 91, 91, 91, 103, 75, 91, 100, 71, 91})}},
        {"QLinearConv",
         10,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({2, 1, 2, 2}, {1, 2, -3, 4, 5, -6, 7, 8})), Kept(F({2}, {0.25f, 0.5f})), Kept(S8({2}, {0, 0})),
          Kept(F({}, {16})), Kept(U8({}, {100}))},
         {Attribute("group", 2)},
         {U8({1, 2, 1, 1}, {103, 112})}},
        {"QLinearConv",
         10,
         {U8({1, 1, 4}, {0, 130, 127, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})), Kept(S8({1, 1, 2}, {3, -5})),
          Kept(F({}, {0.25f})), Kept(S8({}, {0})), Kept(F({}, {2})), Kept(U8({}, {100})), Kept(S32({1}, {7}))},
         {},
         {U8({1, 1, 3}, {76, 101, 61})}},
        {"QLinearConv",
         10,
         {S8({1, 1, 2, 2}, {-128, 3, 4, 127}), Kept(F({}, {0.5f})), Kept(S8({}, {-1})), Kept(S8({1, 1, 1, 2}, {3, -5})),
          Kept(F({}, {0.25f})), Kept(S8({}, {0})), Kept(F({}, {2})), Kept(S8({}, {-7}))},
         {},
         {S8({1, 1, 2, 1}, {-32, -46})}},
    });
}

// Where the weights are fed as well.
TEST(OnnxQuantization, QLinearConvOfFedWeights)
{
    std::vector<Data> fed;
    const Case c = {"QLinearConv",
                    10,
                    {U8({1, 1, 4}, {0, 130, 127, 255}), F({}, {0.5f}), U8({}, {128}), S8({1, 1, 2}, {3, -5}),
                     F({1}, {0.25f}), S8({1}, {0}), F({}, {2}), U8({}, {100}), S32({1}, {7})},
                    {},
                    {U8({1, 1, 3}, {76, 101, 61})}};
    const std::vector<Data> results = RunModel(Build(c, Given::Fixed, fed), fed);
    ExpectEqual(results.at(0), c.m_Outputs.at(0).m_Data);
}

// The last two have scales by row, or operands of one dimension: computed by NumPy.
TEST(OnnxQuantization, QLinearMatMul)
{
    CheckBothWays({
        {"QLinearMatMul",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {7})),
          U8({3, 2}, {1, 255, 3, 4, 0, 127}), Kept(F({}, {0.25f})), Kept(U8({}, {128})), Kept(F({}, {64})),
          Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {41, 99, 72, 69})}},
        {"QLinearMatMul",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {7})),
          S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(F({2}, {0.25f, 0.5f})), Kept(S8({2}, {0, 0})), Kept(F({}, {64})),
          Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {98, 226, 101, 105})}},
        {"QLinearMatMul",
         10,
         {S8({2, 3}, {1, -2, -128, 0, 127, 7}), Kept(F({}, {0.5f})), Kept(S8({}, {7})),
          S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(F({}, {0.25f})), Kept(S8({}, {3})), Kept(F({}, {32})),
          Kept(S8({}, {-4}))},
         {},
         {S8({2, 2}, {0, -66, -4, 0})}},
        {"QLinearMatMul",
         10,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({2}, {0.5f, 0.25f})), Kept(U8({2}, {7, 128})),
          S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(F({}, {0.25f})), Kept(S8({}, {3})), Kept(F({}, {32})),
          Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {92, 223, 102, 103})}},
        {"QLinearMatMul",
         10,
         {U8({3}, {1, 2, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {7})), S8({3}, {-128, 4, 127}), Kept(F({}, {0.25f})),
          Kept(S8({}, {3})), Kept(F({}, {64})), Kept(U8({}, {100}))},
         {},
         {U8({}, {162})}},
    });
}

TEST(OnnxQuantization, MicrosoftQuantizeAndDequantize)
{
    CheckMicrosoft({
        {"QuantizeLinear",
         1,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 16000, 17000, -17000, 40000}), Kept(F({}, {0.5f})),
          Kept(U16({}, {100}))},
         {},
         {U16({2, 4}, {100, 100, 102, 98, 32100, 34100, 0, 65535})}},
        {"QuantizeLinear",
         1,
         {F({2, 4}, {0.25f, -0.25f, 0.75f, -0.75f, 1.25f, 1.75f, 100, -100}), Kept(F({}, {0.5f})), Kept(U8({}, {10}))},
         {},
         {U8({2, 4}, {10, 10, 12, 8, 12, 14, 210, 0})}},
        {"QuantizeLinear",
         1,
         {F({2, 3}, {0.25f, 1.5f, 9, -0.75f, -2.5f, -300}), Kept(F({3}, {0.5f, 1, 2})), Kept(S8({3}, {0, 0, 0}))},
         {Attribute("axis", 1)},
         {S8({2, 3}, {0, 2, 4, -2, -2, -128})}},
        {"DequantizeLinear",
         1,
         {U16({1, 3}, {0, 100, 65535}), Kept(F({}, {0.5f})), Kept(U16({}, {100}))},
         {},
         {F({1, 3}, {-50, 0, 32717.5f})}},
        {"DequantizeLinear",
         1,
         {S8({1, 4}, {-128, -3, 0, 127}), Kept(F({}, {0.5f})), Kept(S8({}, {-3}))},
         {},
         {F({1, 4}, {-62.5f, 0, 1.5f, 65})}},
    });
}

TEST(OnnxQuantization, MicrosoftBinaryOperations)
{
    CheckMicrosoft({
        {"QLinearAdd",
         1,
         {U8({2, 2}, {0, 130, 127, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})), U8({2}, {10, 255}),
          Kept(F({}, {0.25f})), Kept(U8({}, {10})), Kept(F({}, {1})), Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {36, 162, 100, 225})}},
        {"QLinearAdd",
         1,
         {U8({2, 2}, {0, 130, 127, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})), U8({2, 2}, {0, 130, 127, 255}),
          Kept(F({}, {0.5f})), Kept(U8({}, {128})), Kept(F({}, {1}))},
         {},
         {U8({2, 2}, {0, 2, 0, 127})}},
        {"QLinearAdd",
         1,
         {S8({1, 3}, {-128, 1, 127}), Kept(F({}, {0.5f})), Kept(S8({}, {-1})), S8({1, 1}, {7}), Kept(F({}, {0.25f})),
          Kept(S8({}, {0})), Kept(F({}, {1})), Kept(S8({}, {3}))},
         {},
         {S8({1, 3}, {-59, 6, 69})}},
        {"QLinearMul",
         1,
         {U8({2, 2}, {0, 130, 127, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})), U8({2}, {10, 255}),
          Kept(F({}, {0.25f})), Kept(U8({}, {10})), Kept(F({}, {32})), Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {100, 102, 100, 222})}},
        {"QLinearMul",
         1,
         {S8({1, 3}, {-128, 1, 127}), Kept(F({}, {0.5f})), Kept(S8({}, {-1})), S8({1, 1}, {7}), Kept(F({}, {0.25f})),
          Kept(S8({}, {0})), Kept(F({}, {1})), Kept(S8({}, {3}))},
         {},
         {S8({1, 3}, {-108, 5, 115})}},
        // Without the zero point of B, which is an error in ONNX Runtime.
        {"QLinearMul",
         1,
         {S8({1, 3}, {-128, 1, 127}), Kept(F({}, {0.5f})), Kept(S8({}, {-1})), S8({1, 1}, {7}), Kept(F({}, {0.25f})),
          None(), Kept(F({}, {1})), Kept(S8({}, {3}))},
         {},
         {S8({1, 3}, {-108, 5, 115})}},
        {"QLinearWhere",
         1,
         {B({1, 2}, {true, false}), U8({2, 2}, {0, 130, 127, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          U8({1}, {14}), Kept(F({}, {0.25f})), Kept(U8({}, {10})), Kept(F({}, {0.25f})), Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {0, 104, 98, 104})}},
    });
}

TEST(OnnxQuantization, MicrosoftConcat)
{
    CheckMicrosoft({
        {"QLinearConcat",
         1,
         {Kept(F({}, {0.5f})), Kept(U8({}, {100})), U8({2, 2}, {0, 130, 127, 255}), Kept(F({}, {0.5f})),
          Kept(U8({}, {100})), U8({2, 1}, {11, 13}), Kept(F({}, {0.25f})), Kept(U8({}, {10}))},
         {Attribute("axis", 1)},
         {U8({2, 3}, {0, 130, 100, 127, 255, 102})}},
        {"QLinearConcat",
         1,
         {Kept(F({}, {0.5f})), Kept(S8({}, {3})), S8({1, 2}, {-128, 5}), Kept(F({}, {1})), Kept(S8({}, {-1}))},
         {Attribute("axis", 0)},
         {S8({1, 2}, {-128, 15})}},
    });
}

TEST(OnnxQuantization, MicrosoftUnaryOperations)
{
    CheckMicrosoft({
        {"QLinearSigmoid",
         1,
         {U8({1, 4}, {0, 100, 140, 255}), Kept(F({}, {0.05f})), Kept(U8({}, {128})), Kept(F({}, {0.00390625f})),
          Kept(U8({}, {0}))},
         {},
         {U8({1, 4}, {0, 51, 165, 255})}},
        {"QLinearLeakyRelu",
         1,
         {U8({1, 4}, {0, 100, 140, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})), Kept(F({}, {0.25f})),
          Kept(U8({}, {128}))},
         {Attribute("alpha", 0.25f)},
         {U8({1, 4}, {64, 114, 152, 255})}},
        {"QLinearSoftmax",
         1,
         {U8({1, 2, 2}, {0, 10, 20, 40}), Kept(F({}, {0.05f})), Kept(U8({}, {128})), Kept(F({}, {0.00390625f})),
          Kept(U8({}, {0}))},
         {Attribute("axis", -1), Attribute("opset", 13)},
         {U8({1, 2, 2}, {97, 159, 69, 187})}},
        {"QLinearSoftmax",
         1,
         {U8({1, 2, 2}, {0, 10, 20, 40}), Kept(F({}, {0.05f})), Kept(U8({}, {128})), Kept(F({}, {0.00390625f})),
          Kept(U8({}, {0}))},
         {Attribute("axis", 1), Attribute("opset", 13)},
         {U8({1, 2, 2}, {69, 47, 187, 209})}},
        {"QLinearSoftmax",
         1,
         {U8({1, 2, 2}, {0, 10, 20, 40}), Kept(F({}, {0.05f})), Kept(U8({}, {128})), Kept(F({}, {0.00390625f})),
          Kept(U8({}, {0}))},
         {Attribute("axis", 1), Attribute("opset", 12)},
         {U8({1, 2, 2}, {20, 33, 55, 148})},
         NeedsSizes},
        // The default axis is the last one, in any version.
        {"QLinearSoftmax",
         1,
         {U8({1, 2, 2}, {0, 10, 20, 40}), Kept(F({}, {0.05f})), Kept(U8({}, {128})), Kept(F({}, {0.00390625f})),
          Kept(U8({}, {0}))},
         {Attribute("opset", 12)},
         {U8({1, 2, 2}, {97, 159, 69, 187})}},
    });
}

TEST(OnnxQuantization, MicrosoftPools)
{
    CheckMicrosoft({
        {"QLinearAveragePool",
         1,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(F({}, {0.25f})), Kept(U8({}, {120}))},
         {Attribute("kernel_shape", Sizes{2, 1})},
         {U8({1, 2, 1, 2}, {0, 249, 192, 0})}},
        {"QLinearAveragePool",
         1,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(F({}, {0.25f})), Kept(U8({}, {120}))},
         {Attribute("kernel_shape", Sizes{2, 1}), Attribute("pads", Sizes{1, 0, 0, 0}),
          Attribute("count_include_pad", 1)},
         {U8({1, 2, 2, 2}, {0, 122, 0, 249, 120, 0, 192, 0})}},
        {"QLinearAveragePool",
         1,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(F({}, {0.25f})), Kept(U8({}, {120}))},
         {Attribute("kernel_shape", Sizes{1, 2}), Attribute("channels_last", 1)},
         {U8({1, 2, 1, 2}, {0, 249, 192, 0})}},
        {"QLinearGlobalAveragePool",
         1,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(F({}, {0.5f})), Kept(U8({}, {128}))},
         {Attribute("channels_last", 0)},
         {U8({1, 2, 1, 1}, {128, 98})}},
        {"QLinearGlobalAveragePool",
         1,
         {U8({1, 2, 2, 2}, {0, 130, 127, 255, 128, 1, 200, 64}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(F({}, {0.5f})), Kept(U8({}, {128}))},
         {Attribute("channels_last", 1)},
         {U8({1, 1, 1, 2}, {114, 112})}},
    });
}

// Computed by hand: ONNX Runtime has no kernel for it.
TEST(OnnxQuantization, MicrosoftReduceMean)
{
    CheckMicrosoft({
        {"QLinearReduceMean",
         1,
         {U8({2, 3}, {0, 10, 20, 40, 128, 255}), Kept(F({}, {0.5f})), Kept(U8({}, {128})), Kept(F({}, {0.5f})),
          Kept(U8({}, {128}))},
         {Attribute("axes", Sizes{1}), Attribute("keepdims", 0)},
         {U8({2}, {10, 141})}},
        {"QLinearReduceMean",
         1,
         {U8({2, 2}, {0, 10, 20, 41}), Kept(F({}, {0.5f})), Kept(U8({}, {10})), Kept(F({}, {0.25f})),
          Kept(U8({}, {20}))},
         {Attribute("axes", Sizes{-1})},
         {U8({2, 1}, {10, 61})}},
    });
}

TEST(OnnxQuantization, MicrosoftGemm)
{
    CheckMicrosoft({
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0})),
          Kept(S32({2}, {100, -300})), Kept(F({}, {64})), Kept(U8({}, {100}))},
         {},
         {U8({2, 2}, {98, 162, 101, 101})}},
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({2, 3}, {1, 3, -5, -128, 4, 127})), Kept(F({2}, {0.25f, 0.5f})), Kept(S8({2}, {0, 0})),
          Kept(S32({2}, {100, -300})), Kept(F({}, {64})), Kept(U8({}, {100}))},
         {Attribute("transB", 1)},
         {U8({2, 2}, {98, 223, 101, 103})}},
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0})),
          Kept(S32({2}, {100, -300})), Kept(F({}, {64})), Kept(U8({}, {100}))},
         {Attribute("alpha", 2.0f)},
         {U8({2, 2}, {96, 223, 102, 103})}},
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0})),
          Kept(S32({2}, {100, -300}))},
         {},
         {F({2, 2}, {-130, 3947.625f, 72.125f, 89.625f})}},
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0}))},
         {},
         {F({2, 2}, {-142.5f, 3985.125f, 59.625f, 127.125f})}},
        // The zero point of the result decides about its type, as in ONNX Runtime.
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0})), None(),
          Kept(F({}, {64}))},
         {},
         {F({2, 2}, {-142.5f, 3985.125f, 59.625f, 127.125f})}},
        {"QGemm",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({2, 3}, {1, 3, -5, -128, 4, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0})), None(),
          Kept(F({}, {64})), Kept(U8({}, {100}))},
         {Attribute("transB", 1)},
         {U8({2, 2}, {98, 162, 101, 102})}},
        {"QGemm",
         1,
         {U8({3, 2}, {1, 0, 2, 128, 255, 7}), Kept(F({}, {0.5f})), Kept(U8({}, {128})),
          Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f})), Kept(S8({}, {0})), None(),
          Kept(F({}, {64})), Kept(U8({}, {100}))},
         {Attribute("transA", 1)},
         {U8({2, 2}, {98, 162, 101, 102})}},
    });
}

TEST(OnnxQuantization, MicrosoftProductsOfIntegers)
{
    CheckMicrosoft({
        {"DynamicQuantizeMatMul",
         1,
         {F({2, 3}, {0, 2, -3, -2.5f, 1.34f, 0.5f}), Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({}, {0.25f}))},
         {},
         {F({2, 2}, {5.25f, -93.25f, -0.25980392f, 97.20589f})}},
        {"DynamicQuantizeMatMul",
         1,
         {F({2, 3}, {0, 2, -3, -2.5f, 1.34f, 0.5f}), Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})),
          Kept(F({2}, {0.25f, 0.5f})), Kept(S8({2}, {1, -2})), Kept(F({2}, {10, -10}))},
         {},
         {F({2, 2}, {15.5f, -197.5f, 9.90196f, 183.76471f})}},
        {"MatMulIntegerToFloat",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), S8({3, 2}, {1, -128, 3, 4, -5, 127}), Kept(F({}, {0.5f})),
          Kept(F({}, {0.25f}))},
         {},
         {F({2, 2}, {-158.5f, 4033.125f, 43.625f, 175.125f})}},
        {"MatMulIntegerToFloat",
         1,
         {U8({2, 3}, {1, 2, 255, 0, 128, 7}), Kept(S8({3, 2}, {1, -128, 3, 4, -5, 127})), Kept(F({1}, {0.5f})),
          Kept(F({2}, {0.25f, 0.5f})), Kept(U8({1}, {128})), Kept(S8({2}, {1, -2})), Kept(F({2}, {10, -10}))},
         {},
         {F({2, 2}, {-116.75f, 7897.25f, 100.75f, 119.75f})}},
    });
}

// Tools write nodes of com.microsoft with and without an import of it: it is version 1.
TEST(OnnxQuantization, MicrosoftWithImport)
{
    const Wire graph = Graph()
                           .Input("x", {2})
                           .Store(Floats("scale", {}, {0.5f}))
                           .Store(Tensor<int8_t>("zero", {}, {1}))
                           .Add("QuantizeLinear", {"x", "scale", "zero"}, {"y"}, {}, "com.microsoft")
                           .Output("y");
    const Wire import = Message(8, Opset(1, "com.microsoft"));
    for (const Wire& model : {Model(graph), Model(graph, 17, {}, import)})
    {
        EXPECT_EQ(RunModel(model, {List({0.75f, -9})}).at(0).As<int8_t>(), (std::vector<int8_t>{3, -17}));
    }
}

TEST(OnnxQuantization, WhatContradictsItself)
{
    const auto error = [](const char* name, int64_t version, const std::vector<Operand>& inputs,
                          const std::vector<Wire>& attributes = {}, const char* domain = "")
    {
        std::vector<Data> fed;
        return ErrorOf(Build({name, version, inputs, attributes, {Operand()}, false, domain}, Given::Fixed, fed));
    };
    const Operand x = F({2, 3}, {1, 2, 3, 4, 5, 6});
    const Operand q = U8({2, 3}, {1, 2, 3, 4, 5, 6});
    const Operand scale = Kept(F({}, {0.5f}));
    const Operand zero = Kept(U8({}, {3}));

    // Zero points of another type.
    for (const Operand& other : {Kept(S8({}, {3})), S8({}, {3}), Kept(U16({}, {3}))})
    {
        EXPECT_THAT(error("DequantizeLinear", 21, {q, scale, other}),
                    AllOf(HasSubstr("a zero point of type"), HasSubstr("does not fit data of type")));
    }
    const Operand image = U8({1, 1, 1, 2}, {1, 2});
    const Operand weights = Kept(S8({1, 1, 1, 1}, {1}));
    EXPECT_THAT(
        error("QLinearConv", 10, {image, scale, Kept(S8({}, {0})), weights, scale, Kept(S8({}, {0})), scale, zero}),
        HasSubstr("a zero point of type"));

    EXPECT_THAT(error("MatMulInteger", 10, {q, U8({3, 1}, {1, 2, 3}), Kept(S8({}, {3}))}),
                HasSubstr("a zero point of type"));
    EXPECT_THAT(error("ConvInteger", 10, {image, weights, zero, zero}), HasSubstr("a zero point of type"));
    EXPECT_THAT(error("DequantizeLinear", 21, {x, scale}), HasSubstr("are no quantized numbers"));
    EXPECT_THAT(error("QuantizeLinear", 21, {x, scale, zero}, {Attribute("output_dtype", 3)}),
                HasSubstr("attribute 'output_dtype' is INT8, but the zero point is of type Unsigned8"));

    // Numbers of scales and zero points, constant and fed.
    const Operand two = Kept(F({2}, {1, 2}));
    EXPECT_THAT(error("QuantizeLinear", 13, {x, two, Kept(S8({2}, {0, 0}))}), HasSubstr("2 scales do not fit axis 1"));
    EXPECT_THAT(error("QuantizeLinear", 13, {x, two, Kept(U8({2}, {0, 0}))}),
                HasSubstr("2 scales or zero points do not fit axis 1 of shape [2,3]"));
    EXPECT_THAT(error("QuantizeLinear", 13, {x, F({2}, {1, 2})}), HasSubstr("2 scales or zero points do not fit"));
    EXPECT_THAT(error("QuantizeLinear", 13, {x, Kept(F({3}, {1, 2, 3})), Kept(S8({2}, {0, 1}))}),
                HasSubstr("a zero point of shape [2] does not fit a scale of shape [3]"));
    EXPECT_THAT(error("DequantizeLinear", 13, {q, two, Kept(U8({2}, {0, 0}))}, {Attribute("axis", 2)}),
                HasSubstr("axis 2 is outside of 2 dimensions"));
    EXPECT_THAT(error("DequantizeLinear", 13, {q, two, Kept(U8({2}, {0, 0}))}, {Attribute("axis", -3)}),
                HasSubstr("axis -3 is outside of 2 dimensions"));

    // Blocks.
    for (const char* name : {"QuantizeLinear", "DequantizeLinear"})
    {
        EXPECT_THAT(
            error(name, 21, {std::string(name) == "QuantizeLinear" ? x : q, scale}, {Attribute("block_size", -1)}),
            HasSubstr("attribute 'block_size' is -1; it must not be negative"));
    }
    const Wire blocks = Attribute("block_size", 2);
    EXPECT_THAT(error("DequantizeLinear", 21, {q, Kept(F({2, 3}, {1, 1, 1, 1, 1, 1}))}, {blocks}),
                HasSubstr("do not fit shape [2,3] in blocks of 2 along axis 1"));
    EXPECT_THAT(error("DequantizeLinear", 21, {q, Kept(F({2}, {1, 1}))}, {blocks}), HasSubstr("in blocks of 2"));
    EXPECT_THAT(error("DequantizeLinear", 21, {q, Kept(F({1, 2}, {1, 1}))}, {blocks}), HasSubstr("in blocks of 2"));

    // Shapes and types of scales and zero points.
    EXPECT_THAT(error("QuantizeLinear", 13, {x, Kept(F({1, 3}, {1, 1, 1}))}),
                HasSubstr("a scale of shape [1,3] is neither one number nor a list"));
    EXPECT_THAT(error("DequantizeLinear", 21, {q, scale, Kept(U8({0}, {}))}),
                HasSubstr("a zero point of shape [0] has no elements"));
    EXPECT_THAT(error("DequantizeLinear", 21, {q, Kept(S32({}, {1}))}),
                HasSubstr("a scale of type Signed32 is no number of 16 or 32 bits"));
    EXPECT_THAT(error("DequantizeLinear", 23, {q, scale}, {Attribute("output_dtype", 3)}),
                HasSubstr("attribute 'output_dtype' is INT8, which is no type of floats"));
    EXPECT_THAT(error("QuantizeLinear", 21, {x, scale}, {Attribute("output_dtype", (int64_t{1} << 32) + 3)}),
                HasSubstr("which is no element type"));
    EXPECT_THAT(error("QuantizeLinear", 13, {q, scale}), HasSubstr("are not to be quantized"));

    // Numbers of inputs.
    const char* const microsoft = "com.microsoft";
    EXPECT_THAT(error("QLinearConcat", 17, {scale, zero, q, scale, zero, q}, {Attribute("axis", 0)}, microsoft),
                HasSubstr("6 inputs are no scale and zero point, and three for each tensor"));
    EXPECT_THAT(error("QLinearConcat", 17, {scale, zero, q, scale}, {Attribute("axis", 0)}, microsoft),
                HasSubstr("has 4 inputs; it takes 5 or more"));
    EXPECT_THAT(error("QLinearAdd", 17, {q, scale, zero, q, scale, zero}, {}, microsoft),
                HasSubstr("has 6 inputs; it takes 7 to 8"));
    EXPECT_THAT(error("QLinearConv", 10, {image, scale, zero}), HasSubstr("has 3 inputs; it takes 8 to 9"));

    // Ranks.
    EXPECT_THAT(error("MatMulInteger", 10, {U8({}, {1}), q}), HasSubstr("an operand has no dimensions"));
    EXPECT_THAT(error("QLinearAveragePool", 17, {q, scale, zero, scale, zero},
                      {Attribute("kernel_shape", Sizes{1}), Attribute("channels_last", 1)}, microsoft),
                HasSubstr("shape [2,3] is that of no images"));

    // Constants of 4 bits with a byte too many, or too few.
    for (const char* bytes : {"1", "123"})
    {
        EXPECT_THAT(ErrorOf(Model(Graph()
                                      .Store(TensorOf("x", ElementType::Int4, {3}, Message(9, bytes)))
                                      .Store(Floats("scale", {}, {1}))
                                      .Add("DequantizeLinear", {"x", "scale"}, {"y"})
                                      .Output("y"),
                                  21)),
                    AllOf(HasSubstr("tensor 'x'"), HasSubstr("bytes of data")));
    }
}

TEST(OnnxQuantization, LongBlocks)
{
    const Wire longest = Attribute("block_size", std::numeric_limits<int64_t>::max());
    Check({{"DequantizeLinear",
            21,
            {U8({2, 2}, {1, 2, 3, 4}), Kept(F({2, 1}, {1, 2}))},
            {longest},
            {F({2, 2}, {1, 2, 6, 8})},
            NeedsSizes}});

    // A model of some 100 bytes takes no memory for its scales while it is read.
    const int64_t count = int64_t{1} << 26;
    const Wire model =
        Model(Graph()
                  .Input("x", ElementType::Int8, Dims{count})
                  .Input("scale", Dims{count / 2})
                  .Add("DequantizeLinear", {"x", "scale"}, {"y"}, {Attribute("axis", 0), Attribute("block_size", 2)})
                  .Output("y"),
              21);
    EXPECT_NO_THROW(Parsed{model});
}

TEST(OnnxQuantization, OneZeroPointForAllChannelsOfWeights)
{
    const Operand x = U8({1, 1, 1, 1}, {3});
    const Operand one = Kept(F({}, {1}));
    const Operand zero = Kept(U8({}, {0}));
    Check({{"QLinearConv",
            10,
            {x, one, zero, Kept(S8({3, 1, 1, 1}, {1, 2, 3})), Kept(F({3}, {1, 2, 4})), Kept(S8({}, {0})), one, zero},
            {},
            {U8({1, 3, 1, 1}, {3, 12, 36})}}});
}

/// Integers of 4 bits that are moved while the model is read keep their width; a Cast gives integers of 8 bits.
TEST(OnnxQuantization, FourBitsThatAreMoved)
{
    const Wire packed = TensorOf("w", ElementType::Int4, {2, 3}, Message(9, std::string("\x21\x43\xF5", 3)));
    const Wire zero = TensorOf("z", ElementType::Int4, {}, Message(9, std::string("\x01", 1)));
    OnnxRun run(Model(Graph()
                          .Store(packed)
                          .Store(zero)
                          .Store(Floats("scale", {}, {2}))
                          .Add("Transpose", {"w"}, {"t"})
                          .Add("DequantizeLinear", {"t", "scale", "z"}, {"y"})
                          .Add("Cast", {"t"}, {"n"}, {Attribute("to", 3)})
                          .Output("y")
                          .Output("n"),
                      21));
    const std::vector<Data> results = run.Run({});
    EXPECT_EQ(results[0].Floats(), (std::vector<float>{0, 6, 2, 8, 4, -4}));
    EXPECT_EQ(results[1].As<int8_t>(), (std::vector<int8_t>{1, 4, 2, 5, 3, -1}));

    EXPECT_THAT(
        ErrorOf<UnimplementedException>(Model(Graph().Store(packed).Add("Transpose", {"w"}, {"y"}).Output("y"), 21)),
        HasSubstr("outputs of 4-bit integers are not supported"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(Graph().Store(packed).Add("Neg", {"w"}, {"y"}).Output("y"), 21)),
                HasSubstr("operands of 4-bit integers are not supported"));
}

TEST(OnnxQuantization, WhatIsRefused)
{
    const auto error =
        [](const char* name, const std::vector<Operand>& inputs, const std::vector<Wire>& attributes = {})
    {
        std::vector<Data> fed;
        return ErrorOf<UnimplementedException>(Build({name, 21, inputs, attributes, {Operand()}}, Given::Fixed, fed));
    };
    const Operand x = F({2}, {1, 2});
    const Operand scale = Kept(F({}, {0.5f}));
    EXPECT_THAT(error("QuantizeLinear", {x, scale, Kept(S32({}, {0}))}), HasSubstr("quantized tensors of type"));
    EXPECT_THAT(error("QuantizeLinear", {x, scale}, {Attribute("output_dtype", 1)}),
                HasSubstr("quantized tensors of type"));
    EXPECT_THAT(error("QuantizeLinear", {x, scale}, {Attribute("output_dtype", 17)}),
                HasSubstr("element type FLOAT8E4M3FN is not supported"));
    const Operand float8 = Stored8Bits(ElementType::Float8E4M3FN);
    EXPECT_THAT(error("QuantizeLinear", {x, scale, float8}), HasSubstr("element type FLOAT8E4M3FN is not supported"));
    EXPECT_THAT(error("DequantizeLinear", {float8, scale}), HasSubstr("element type FLOAT8E4M3FN is not supported"));
    EXPECT_THAT(error("MatMulInteger", {U16({1, 1}, {1}), U16({1, 1}, {1})}), HasSubstr("operands of type"));
    EXPECT_THAT(error("ConvInteger", {U16({1, 1, 1, 1}, {1}), U16({1, 1, 1, 1}, {1})}), HasSubstr("operands of type"));

    // Outputs of 4 bits: of an operator, and a constant.
    const Operand four = FourBits(ElementType::UInt4, {}, {1});
    EXPECT_THAT(error("QuantizeLinear", {x, scale, four}),
                HasSubstr("output 'out0': outputs of 4-bit integers are not supported"));
    EXPECT_THAT(error("QuantizeLinear", {x, scale}, {Attribute("output_dtype", 22)}),
                HasSubstr("outputs of 4-bit integers"));
    EXPECT_THAT(error("Identity", {four}), HasSubstr("outputs of 4-bit integers"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(
                    Graph().Input("x", ElementType::Int4, Dims{2}).Add("Identity", {"x"}, {"y"}).Output("y"), 21)),
                HasSubstr("element type INT4 is not supported"));
}

} // namespace tenon::test::onnx_quantization_test
