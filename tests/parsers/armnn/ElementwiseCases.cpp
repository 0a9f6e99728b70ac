// SPDX-License-Identifier: Apache-2.0
// Cases of the layers that compute each element by itself, and of old types, orders and open sizes.
#include "CaseParts.hpp"

namespace tenon::test
{

void AddElementwise(Cases& cases)
{
    const TensorInfo x = Floats({2, 3});
    const TensorInfo y = Floats({1, 3});
    const TensorInfo flags = Typed({2, 3}, DataType::Boolean);
    const TensorInfo bytes = Typed({2, 3}, DataType::QAsymmU8, 0.25f, 3);
    cases.push_back({"Activation",
                     {x},
                     {x},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddActivationLayer({ActivationFunction::BoundedReLu, 0.5f, -0.25f}, name);
                         })});
    cases.push_back({"Activation_without_identifier", {x}, {x}, cases.back().m_Add});
    for (const auto& [kind, operation] :
         {std::pair("Addition", BinaryOperation::Add), std::pair("Subtraction", BinaryOperation::Sub),
          std::pair("Multiplication", BinaryOperation::Mul), std::pair("Division", BinaryOperation::Div),
          std::pair("Maximum", BinaryOperation::Maximum), std::pair("Minimum", BinaryOperation::Minimum),
          std::pair("ElementwiseBinary", BinaryOperation::SqDiff)})
    {
        cases.push_back({kind,
                         {x, y},
                         {x},
                         Only([operation = operation](INetwork& n, const char* name)
                              { return n.AddElementwiseBinaryLayer(operation, name); })});
    }
    for (const auto& [kind, operation] :
         {std::pair("Equal", ComparisonOperation::Equal), std::pair("Greater", ComparisonOperation::Greater),
          std::pair("Comparison", ComparisonOperation::LessOrEqual)})
    {
        cases.push_back({kind,
                         {x, y},
                         {flags},
                         Only([operation = operation](INetwork& n, const char* name)
                              { return n.AddComparisonLayer(operation, name); })});
    }
    for (const auto& [kind, operation] :
         {std::pair("Abs", UnaryOperation::Abs), std::pair("Rsqrt", UnaryOperation::Rsqrt),
          std::pair("ElementwiseUnary", UnaryOperation::Neg)})
    {
        cases.push_back({kind,
                         {x},
                         {x},
                         Only([operation = operation](INetwork& n, const char* name)
                              { return n.AddElementwiseUnaryLayer(operation, name); })});
    }
    cases.push_back({"Floor", {x}, {x}, Only([](INetwork& n, const char* name) { return n.AddFloorLayer(name); })});
    cases.push_back({"LogicalBinary",
                     {flags, flags},
                     {flags},
                     Only([](INetwork& n, const char* name)
                          { return n.AddLogicalBinaryLayer(LogicalBinaryOperation::LogicalOr, name); })});
    cases.push_back({"Prelu", {x, y}, {x}, Only([](INetwork& n, const char* name) { return n.AddPreluLayer(name); })});
    cases.push_back({"Cast",
                     {x},
                     {Typed({2, 3}, DataType::Signed32)},
                     Only([](INetwork& n, const char* name) { return n.AddCastLayer(name); })});
    cases.push_back(
        {"Quantize", {x}, {bytes}, Only([](INetwork& n, const char* name) { return n.AddQuantizeLayer(name); })});
    const auto dequantize = Only([](INetwork& n, const char* name) { return n.AddDequantizeLayer(name); });
    cases.push_back({"Dequantize", {bytes}, {x}, dequantize});
    cases.push_back({"Dequantize_overridden", {bytes}, {x}, dequantize});
    cases.back().m_IsOverridden = true;
}

void AddVersions(Cases& cases)
{
    const auto relu =
        Only([](INetwork& n, const char* name) { return n.AddActivationLayer(ActivationFunction::ReLu, name); });
    const TensorInfo bytes = Typed({2, 3}, DataType::QAsymmU8, 0.25f, 3);
    const TensorInfo shorts = Typed({2, 3}, DataType::QSymmS16, 0.25f);
    cases.push_back({"Activation_old", {bytes}, {bytes}, relu});
    cases.push_back({"Activation_16_old", {shorts}, {shorts}, relu});
    for (const char* file : {"Subtraction_turned", "Subtraction_slots"})
    {
        cases.push_back({file,
                         {Floats({2, 3}), Floats({1, 3})},
                         {Floats({2, 3})},
                         Only([](INetwork& n, const char* name)
                              { return n.AddElementwiseBinaryLayer(BinaryOperation::Sub, name); })});
        cases.back().m_IsTurned = cases.back().m_Name == "Subtraction_turned";
    }
    const auto abs =
        Only([](INetwork& n, const char* name) { return n.AddElementwiseUnaryLayer(UnaryOperation::Abs, name); });
    const TensorInfo open = Floats(TensorShape({0, 3}, {false, true}));
    const TensorInfo any = Floats(TensorShape(Dimensionality::NotSpecified));
    cases.push_back({"Abs_open", {open}, {open}, abs});
    cases.push_back({"Abs_of_any_rank", {any}, {any}, abs});
}

} // namespace tenon::test
