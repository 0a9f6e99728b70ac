// SPDX-License-Identifier: Apache-2.0
// OperatorReader: see OperatorReader.hpp.
#include "parsers/tflite/OperatorReader.hpp"

#include "parsers/tflite/FlexOptions.hpp"
#include "parsers/tflite/OptionsReader.hpp"

#include <algorithm>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

using schema::BuiltinOperator;

OperatorView::Operands ReadList(Model& model, TensorTable& tensors, const flatbuffers::Vector<int32_t>* list,
                                const char* kind)
{
    if (list == nullptr)
    {
        return {};
    }
    constexpr size_t slotBytes = 64; // what one becomes in the network, about
    model.Charge(list->size() * slotBytes);
    return ReadOperands({list->data(), list->size()}, kind,
                        [&](int32_t index) -> const TensorView& { return tensors.Get(index); });
}

/// Above this size of the file the options of builtin operators are left out: the lists in them may all be one, and
/// written out once each they must stay below what FlatBufferBuilder can hold, 2 GiB, which it does not check.
constexpr size_t MaxBytesToUnshare = 64U << 20;

/// Options of a custom operator are bytes of its own format. Those of a builtin one become a flatbuffer of its own,
/// whose root is the operator's table of options. builtin_options_2 are left out: they have lists of 64-bit numbers,
/// which may be misaligned in a hostile file, and the generated code would read them all the same.
std::vector<uint8_t> ReadRawOptions(Model& model, const schema::Operator& op, const OperatorCode& code)
{
    if (code.IsCustom())
    {
        const Span<const uint8_t> options = model.CustomOptions(op);
        model.Charge(options.size());
        return {options.begin(), options.end()};
    }
    if (model.Bytes().size() > MaxBytesToUnshare)
    {
        return {};
    }
    if (op.builtin_options() == nullptr)
    {
        return {};
    }
    flatbuffers::FlatBufferBuilder builder;
    schema::BuiltinOptionsUnion options;
    options.type = op.builtin_options_type();
    options.value = schema::BuiltinOptionsUnion::UnPack(op.builtin_options(), options.type, nullptr);
    const flatbuffers::Offset<void> root = options.Pack(builder, nullptr);
    if (root.IsNull())
    {
        return {};
    }
    builder.Finish(root);
    model.Charge(builder.GetSize());
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace

OperatorCode ReadOperatorCode(Model& model, const schema::Operator& op)
{
    const auto* codes = model.Root().operator_codes();
    if (codes == nullptr || op.opcode_index() >= codes->size())
    {
        throw ParseException(fmt::format("has opcode_index {}, but the model has {} operator codes", op.opcode_index(),
                                         codes != nullptr ? codes->size() : 0));
    }
    const schema::OperatorCode& entry = *codes->Get(op.opcode_index());
    const int32_t builtin =
        std::max<int32_t>(static_cast<int32_t>(entry.builtin_code()), entry.deprecated_builtin_code());
    if (builtin < 0)
    {
        throw ParseException(fmt::format("has builtin code {}", builtin));
    }
    OperatorCode code{builtin, NameOfBuiltin(builtin), entry.version()};
    if (code.IsCustom() && entry.custom_code() != nullptr && entry.custom_code()->size() != 0)
    {
        model.Charge(entry.custom_code()->size());
        code.m_Name = entry.custom_code()->str();
    }
    return code;
}

std::string NameOfBuiltin(int32_t builtin)
{
    const std::string name = EnumNameBuiltinOperator(static_cast<BuiltinOperator>(builtin));
    return name.empty() ? fmt::format("BUILTIN_{}", builtin) : name;
}

bool OperatorCode::IsCustom() const
{
    return m_Builtin == static_cast<int32_t>(BuiltinOperator::CUSTOM);
}

OperatorView ReadOperator(Model& model, TensorTable& tensors, const schema::Operator& op, const OperatorCode& code,
                          size_t index, OptionsAs options)
{
    OperatorView::Operands inputs = ReadList(model, tensors, op.inputs(), "input");
    OperatorView::Operands outputs = ReadList(model, tensors, op.outputs(), "output");
    AttributeList attributes;
    std::vector<uint8_t> raw;
    if (options == OptionsAs::Raw)
    {
        raw = ReadRawOptions(model, op, code);
    }
    else
    {
        attributes = code.IsCustom() ? ReadFlexOptions(model.Budget(), model.CustomOptions(op))
                                     : ReadOptions(model, op, code.m_Builtin);
    }
    OperatorView::Operands intermediates = ReadList(model, tensors, op.intermediates(), "intermediate");
    return {code.m_Name,           index,          std::move(inputs),        std::move(outputs),
            std::move(attributes), std::move(raw), std::move(intermediates), code.m_Version};
}

} // namespace tenon::tflite
