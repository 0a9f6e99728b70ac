// SPDX-License-Identifier: Apache-2.0
// Models of one operator: see ExampleModels.hpp.
#include "parsers/ExampleModels.hpp"

#include "parsers/tflite/Model.hpp"
#include "parsers/tflite/Operators.hpp"
#include "parsers/tflite/OptionsReader.hpp"

#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/minireflect.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>

namespace tenon::test
{

namespace
{

using Operator = ModelBuilder::Operator;
using Type = ModelBuilder::Type;
using tflite::AttributeList;

constexpr int Any = std::numeric_limits<int>::max();
constexpr auto Union1Size = static_cast<size_t>(schema::BuiltinOptions::MAX) + 1;
constexpr auto Union2Size = static_cast<size_t>(schema::BuiltinOptions2::MAX) + 1;

const flatbuffers::TypeTable& TableOf(size_t number, bool second)
{
    const flatbuffers::TypeTable* types =
        second ? schema::BuiltinOptions2TypeTable() : schema::BuiltinOptionsTypeTable();
    return *types->type_refs[types->type_codes[number].sequence_ref]();
}

/// An options table with 1 in each field and list, `enumerator` in those that are enumerators.
void Fill(flatbuffers::FlatBufferBuilder& builder, const flatbuffers::TypeTable& table, uint8_t enumerator)
{
    std::vector<flatbuffers::Offset<void>> lists(table.num_elems);
    for (size_t i = 0; i < table.num_elems; ++i)
    {
        const auto type = table.type_codes[i];
        if (type.base_type == flatbuffers::ET_STRING)
        {
            lists[i] = builder.CreateString("text").Union();
        }
        else if (type.is_repeating != 0)
        {
            // One element of up to 8 bytes; lists of one byte only take the first.
            const size_t size =
                flatbuffers::InlineSize(static_cast<flatbuffers::ElementaryType>(type.base_type), &table);
            builder.StartVector(1, size);
            for (size_t byte = size; byte > 0; --byte)
            {
                builder.PushElement<uint8_t>(byte == 1 ? 1 : 0);
            }
            lists[i] = flatbuffers::Offset<void>(builder.EndVector(1));
        }
    }
    builder.ForceDefaults(true);
    const auto start = builder.StartTable();
    for (size_t i = 0; i < table.num_elems; ++i)
    {
        const auto field = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
        if (!lists[i].IsNull())
        {
            builder.AddOffset(field, lists[i]);
            continue;
        }
        const uint8_t one = table.type_codes[i].sequence_ref >= 0 ? enumerator : 1;
        switch (table.type_codes[i].base_type)
        {
        case flatbuffers::ET_INT:
        case flatbuffers::ET_UINT: builder.AddElement<int32_t>(field, one, 0); break;
        case flatbuffers::ET_LONG: builder.AddElement<int64_t>(field, one, 0); break;
        case flatbuffers::ET_FLOAT: builder.AddElement<float>(field, one, 0); break;
        default: builder.AddElement<uint8_t>(field, one, 0); break;
        }
    }
    builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
}

void SetFilled(schema::OperatorT& op, size_t number, bool second, uint8_t enumerator)
{
    flatbuffers::FlatBufferBuilder builder;
    Fill(builder, TableOf(number, second), enumerator);
    const void* table = flatbuffers::GetRoot<flatbuffers::Table>(builder.GetBufferPointer());
    if (second)
    {
        op.builtin_options_2.type = static_cast<schema::BuiltinOptions2>(number);
        op.builtin_options_2.value = schema::BuiltinOptions2Union::UnPack(table, op.builtin_options_2.type, nullptr);
        return;
    }
    op.builtin_options.type = static_cast<schema::BuiltinOptions>(number);
    op.builtin_options.value = schema::BuiltinOptionsUnion::UnPack(table, op.builtin_options.type, nullptr);
}

/// What the operands of an example are. The first operand of type RESOURCE is the handle of a variable.
struct Operands
{
    Type m_Type;
    bool m_IsConstant;
};
constexpr Operands OperandKinds[] = {
    {Type::FLOAT32, false}, {Type::INT32, false}, {Type::INT32, true}, {Type::RESOURCE, false}};

/// Subgraph 1, for operators that refer to one: their options, filled, name it.
enum class Body
{
    Empty,
    PassThrough,
    Sum
};

/// The structs of all custom operators that have some: padding, strides, sizes and activation.
std::vector<uint8_t> RawOptions()
{
    const int32_t ones[] = {1, 1, 1, 1, 1, 1};
    std::vector<uint8_t> bytes(sizeof(ones));
    std::memcpy(bytes.data(), ones, sizeof(ones));
    return bytes;
}

/// The options of all other custom operators in one map.
std::vector<uint8_t> CustomOptions()
{
    flexbuffers::Builder builder;
    builder.Map(
        [&]
        {
            const int32_t ones[] = {1, 1, 1, 1, 1};
            builder.String("data_format", "NDHWC");
            builder.String("padding", "SAME");
            builder.Vector("ksize", ones, std::size(ones));
            builder.Vector("strides", ones, std::size(ones));
            builder.Int("window_size", 2);
            builder.Int("stride", 1);
            builder.Int("max_detections", 1);
            builder.Int("max_classes_per_detection", 1);
            builder.Int("num_classes", 1);
            for (const char* name : {"y_scale", "x_scale", "h_scale", "w_scale", "nms_score_threshold",
                                     "nms_iou_threshold", "scale_x", "scale_y"})
            {
                builder.Float(name, 1.0f);
            }
            builder.TypedVector("subset_idxs", [&] { builder.Int(0); });
            builder.Int("T", 0);
            builder.Int("fft_length", 2);
            for (const char* name : {"alternate_one_minus_smoothing",
                                     "alternate_smoothing",
                                     "clamping",
                                     "delay_length",
                                     "end_index",
                                     "frame_size",
                                     "frame_step",
                                     "input_correction_bits",
                                     "min_signal_remaining",
                                     "num_channels",
                                     "one_minus_smoothing",
                                     "output_height",
                                     "output_scale",
                                     "output_width",
                                     "prefill",
                                     "shift",
                                     "smoothing",
                                     "smoothing_bits",
                                     "snr_shift",
                                     "spectral_subtraction_bits",
                                     "stacker_left_context",
                                     "stacker_right_context",
                                     "stacker_step",
                                     "start_index"})
            {
                builder.Int(name, 1);
            }
        });
    builder.Finish();
    return builder.GetBuffer();
}

int32_t AddHandle(ModelBuilder& model)
{
    const int32_t handle = model.AddTensor("handle", {}, Type::RESOURCE);
    model.AddOperator(Operator::VAR_HANDLE, {}, {handle}, schema::VarHandleOptionsT());
    return handle;
}

int32_t AddOperand(ModelBuilder& model, const Operands& kind, int number)
{
    if (kind.m_Type == Type::RESOURCE)
    {
        return number == 0 ? AddHandle(model) : model.AddInput("", {1, 1, 1, 1});
    }
    return kind.m_IsConstant ? model.AddConstant<int32_t>("", {1}, {1}, kind.m_Type)
                             : model.AddInput("", {1, 1, 1, 1}, kind.m_Type);
}

void AddBody(ModelBuilder& model, Body body)
{
    model.AddSubgraph("body");
    if (body == Body::PassThrough)
    {
        model.Graph().outputs.push_back(model.AddInput("in", {1}));
    }
    else if (body == Body::Sum)
    {
        const int32_t a = model.AddInput("a", {});
        const int32_t b = model.AddInput("b", {});
        model.AddOperator(BodyOperator, {a, b}, {model.AddOutput("out", {})});
    }
    model.Select(0);
}

/// A model whose last operator has the row's code and no options.
ModelBuilder OperatorOn(const ExampleRow& row, int numInputs, int numOutputs, const Operands& kind, Body body)
{
    ModelBuilder model;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    for (int i = 0; i < numInputs; ++i)
    {
        inputs.push_back(AddOperand(model, kind, i));
    }
    for (int i = 0; i < numOutputs; ++i)
    {
        // A handle is no output of a model.
        const bool isHandle = kind.m_Type == Type::RESOURCE;
        outputs.push_back(isHandle && numInputs == 0
                              ? model.AddTensor("", {}, kind.m_Type)
                              : model.AddOutput("", {1}, isHandle ? Type::FLOAT32 : kind.m_Type));
    }
    model.AddOperator(row.m_Code, inputs, outputs);
    if (row.m_Code == Operator::CUSTOM)
    {
        model.Model().operator_codes.back()->custom_code = row.m_Name;
        model.Model().operator_codes.back()->version = 2; // which some ask for
    }
    AddBody(model, body);
    return model;
}

schema::OperatorT& LastOperator(ModelBuilder& model)
{
    return *model.Graph().operators.back();
}

/// The model as it is, or with the options of a custom operator; then with each way of filling a builtin one's options.
void VisitWithOptions(const ExampleRow& row, ModelBuilder plain, const std::function<void(const ModelBuilder&)>& visit)
{
    if (row.m_Code == Operator::CUSTOM)
    {
        LastOperator(plain).custom_options = row.m_HasRawOptions ? RawOptions() : CustomOptions();
    }
    visit(plain);
    for (const OptionsTable& table : GetOptionsTables())
    {
        if (std::count(table.m_Codes.begin(), table.m_Codes.end(), row.m_Code) == 0)
        {
            continue;
        }
        // 2 is INT32, which some types must be.
        for (const uint8_t enumerator : {uint8_t{0}, uint8_t{1}, uint8_t{2}})
        {
            ModelBuilder model = plain;
            SetFilled(LastOperator(model), table.m_Number, table.m_IsSecond, enumerator);
            if (auto* window = LastOperator(model).builtin_options_2.AsStablehloReduceWindowOptions())
            {
                window->padding = {1, 1}; // two numbers a dimension
            }
            visit(model);
        }
    }
}

} // namespace

namespace
{

/// The builtin operator of this name in tflite.fbs. Throws std::runtime_error where there is none.
Operator CodeOf(const std::string& name)
{
    for (const Operator code : schema::EnumValuesBuiltinOperator())
    {
        if (name == schema::EnumNameBuiltinOperator(code))
        {
            return code;
        }
    }
    throw std::runtime_error("tflite.fbs has no operator " + name + ", which a row of the parser has");
}

} // namespace

const std::vector<ExampleRow>& GetExampleRows()
{
    static const std::vector<ExampleRow> rows = []
    {
        std::vector<ExampleRow> all;
        for (const bool isCustom : {false, true})
        {
            for (const tflite::OperatorRow& row : tflite::GetRows(isCustom))
            {
                const std::string name(row.m_Name);
                const Operator code = isCustom ? Operator::CUSTOM : CodeOf(name);
                const auto max = [](uint16_t number)
                { return number == tflite::OperatorRow::AnyNumber ? Any : number; };
                all.push_back({name, code, row.m_MinInputs, max(row.m_MaxInputs), row.m_MinOutputs,
                               max(row.m_MaxOutputs), row.m_HasRawOptions});
            }
        }
        return all;
    }();
    return rows;
}

std::vector<uint8_t> ModelWith(size_t number, bool second)
{
    ModelBuilder model;
    model.AddOperator(Operator::ABS, {}, {});
    SetFilled(model.Op(0), number, second, 1);
    return model.Build();
}

const std::vector<OptionsTable>& GetOptionsTables()
{
    static const std::vector<OptionsTable> all = []
    {
        std::vector<OptionsTable> tables;
        for (const bool second : {false, true})
        {
            for (size_t number = 1; number < (second ? Union2Size : Union1Size); ++number)
            {
                if (TableOf(number, second).num_elems == 0)
                {
                    continue;
                }
                tables.push_back({number, second, {}});
                tflite::Model model = tflite::Model::FromCopy(ModelWith(number, second), Limits());
                for (const Operator code : schema::EnumValuesBuiltinOperator())
                {
                    const AttributeList list =
                        ReadOptions(model, *model.Subgraph(0).operators()->Get(0), static_cast<int32_t>(code));
                    if (std::any_of(list.m_Attributes.begin(), list.m_Attributes.end(),
                                    [](const parsers::Attribute& attribute) { return attribute.m_IsSet; }))
                    {
                        tables.back().m_Codes.push_back(code);
                    }
                }
            }
        }
        return tables;
    }();
    return all;
}

void VisitExamples(const ExampleRow& row, const std::function<void(const ModelBuilder&)>& visit)
{
    const std::set<int> inputCounts = row.m_MaxInputs == Any
                                          ? std::set<int>{row.m_MinInputs, row.m_MinInputs + 1, row.m_MinInputs + 2}
                                          : std::set<int>{row.m_MinInputs, row.m_MaxInputs};
    const std::set<int> outputCounts = row.m_MaxOutputs == Any ? std::set<int>{row.m_MinOutputs, 1}
                                                               : std::set<int>{row.m_MinOutputs, row.m_MaxOutputs};
    for (const int inputs : inputCounts)
    {
        for (const int outputs : outputCounts)
        {
            for (const Operands& kind : OperandKinds)
            {
                for (const Body body : {Body::Empty, Body::PassThrough, Body::Sum})
                {
                    VisitWithOptions(row, OperatorOn(row, inputs, outputs, kind, body), visit);
                }
            }
        }
    }
}

} // namespace tenon::test
