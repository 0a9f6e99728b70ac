// SPDX-License-Identifier: Apache-2.0
// A tenon_operator as an ICustomOperator.
#include "backends/plugin/HostCalls.hpp"
#include "backends/plugin/Status.hpp"
#include "c_api/Handles.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/External.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace tenon::c_api
{

namespace
{

/// The application's struct and what is to be done when nobody needs it any more.
class CustomOperator final : public ICustomOperator, public std::enable_shared_from_this<CustomOperator>
{
public:
    explicit CustomOperator(const tenon_operator& custom) : m_Operator(custom), m_Name(custom.name) {}
    ~CustomOperator() override
    {
        if (m_IsOwned && m_Operator.release != nullptr)
        {
            m_Operator.release(m_Operator.self);
        }
    }
    CustomOperator(const CustomOperator&) = delete;
    CustomOperator& operator=(const CustomOperator&) = delete;

    const tenon_operator& Get() const { return m_Operator; }
    void Own() const { m_IsOwned = true; }
    const char* GetName() const override { return m_Name.c_str(); }
    std::vector<TensorShape> InferOutputShapes(const CustomShapeArgs& args) const override;
    uint32_t GetValueInputs() const override { return m_Operator.value_inputs; }
    bool HasLateOutputs() const override { return m_Operator.has_late_outputs != 0; }
    SupportResult IsSupported(const LayerView& layer) const override;
    std::unique_ptr<backend::IWorkload> CreateWorkload(const LayerView& layer) const override;

    /// Throws what a status that is no success stands for, with the operator's text.
    void Check(tenon_status status, const char* function, plugin::ErrorText& text) const
    {
        plugin::ThrowUnlessOk(status, text, "custom operator '" + m_Name + "'", function);
    }

private:
    TensorShape ShapeOf(const tenon_shape& filled, size_t output) const;

    tenon_operator m_Operator;
    std::string m_Name;
    mutable std::atomic<bool> m_IsOwned{false};
};

std::vector<TensorShape> CustomOperator::InferOutputShapes(const CustomShapeArgs& args) const
{
    const size_t count = args.m_Descriptor.m_NumOutputs;
    std::vector<TensorShape> shapes(count, TensorShape(Dimensionality::NotSpecified));
    if (HasLateOutputs())
    {
        return shapes;
    }
    // The layer's outputs are what is asked for: they have no infos yet.
    ReshapeArgs layerArgs;
    layerArgs.m_Descriptor = &args.m_Descriptor;
    layerArgs.m_Inputs = args.m_Inputs;
    layerArgs.m_ConstantData = args.m_Values;
    layerArgs.m_Name = &m_Name;
    const TensorInfo unknown(TensorShape(Dimensionality::NotSpecified), DataType::Float32);
    const std::vector<const TensorInfo*> outputs(count, &unknown);
    layerArgs.m_Outputs = outputs;
    const plugin::CLayer layer(LayerType::Custom, LayerGuid(), nullptr, layerArgs);
    std::vector<const void*> values(args.m_Values.begin(), args.m_Values.end());
    values.resize(args.m_Inputs.size());
    std::vector<tenon_shape> filled(count);
    plugin::ErrorText text;
    Check(m_Operator.infer_shapes(m_Operator.self, layer.Get(), values.data(), filled.data(), text.Get()),
          "infer_shapes", text);
    for (size_t i = 0; i < count; ++i)
    {
        shapes[i] = ShapeOf(filled[i], i);
    }
    return shapes;
}

TensorShape CustomOperator::ShapeOf(const tenon_shape& filled, size_t output) const
{
    const bool isKnown = filled.rank <= MaxNumOfTensorDimensions &&
                         std::all_of(filled.dims, filled.dims + filled.rank,
                                     [](int64_t size) { return std::in_range<unsigned int>(size); });
    if (!isKnown)
    {
        throw LayerValidationException(
            fmt::format("custom operator '{}' gives output {} a rank of {} or a size that no tensor has", m_Name,
                        output, filled.rank));
    }
    return plugin::ToShape(filled.rank, filled.dims);
}

SupportResult CustomOperator::IsSupported(const LayerView& layer) const
{
    if (m_Operator.is_supported == nullptr)
    {
        return SupportResult();
    }
    const plugin::CLayer c(layer);
    plugin::ErrorText reason;
    const tenon_support_code code = m_Operator.is_supported(m_Operator.self, c.Get(), reason.Get());
    if (code == TENON_SUPPORTED)
    {
        return SupportResult();
    }
    return {code > TENON_SUPPORTED && code <= TENON_UNAVAILABLE ? static_cast<SupportCode>(code)
                                                                : SupportCode::UnsupportedParameters,
            reason.ToString()};
}

class ShapedCustomWorkload final : public IShapedWorkload
{
public:
    ShapedCustomWorkload(std::shared_ptr<const CustomOperator> custom, LayerGuid guid, const ReshapeArgs& args)
        : m_Operator(std::move(custom)), m_Layer(LayerType::Custom, guid, nullptr, args)
    {
    }

    void Execute(const ExecuteArgs& args) const override
    {
        plugin::HostCalls calls(args);
        tenon_execute_args c{};
        c.struct_size = sizeof(c);
        c.num_inputs = args.m_Inputs.size();
        c.inputs = args.m_Inputs.data();
        c.num_outputs = args.m_Outputs.size();
        c.outputs = args.m_Outputs.data();
        c.scratch = args.m_Scratch;
        c.parallel = calls.Parallel();
        c.late_outputs = calls.LateOutputs();
        plugin::ErrorText text;
        const tenon_status status = m_Operator->Get().run(m_Operator->Get().self, m_Layer.Get(), &c, text.Get());
        calls.RethrowKept();
        m_Operator->Check(status, "run", text);
    }

private:
    std::shared_ptr<const CustomOperator> m_Operator;
    plugin::CLayer m_Layer;
};

class CustomWorkload final : public backend::IWorkload
{
public:
    CustomWorkload(std::shared_ptr<const CustomOperator> custom, LayerGuid guid)
        : m_Operator(std::move(custom)), m_Guid(guid)
    {
    }
    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        return std::make_unique<ShapedCustomWorkload>(m_Operator, m_Guid, args);
    }
    const char* GetName() const override { return m_Operator->GetName(); }

private:
    std::shared_ptr<const CustomOperator> m_Operator;
    LayerGuid m_Guid;
};

std::unique_ptr<backend::IWorkload> CustomOperator::CreateWorkload(const LayerView& layer) const
{
    return std::make_unique<CustomWorkload>(shared_from_this(), layer.m_Guid);
}

} // namespace

std::shared_ptr<const ICustomOperator> MakeCustomOperator(const tenon_operator* custom)
{
    const tenon_operator given = Complete(&Deref(custom, "the operator"), "tenon_operator");
    const std::string name = &Deref(given.name, "the name of an operator");
    if (name.empty() || given.run == nullptr || (given.infer_shapes == nullptr && given.has_late_outputs == 0))
    {
        throw InvalidArgumentException(
            fmt::format("operator '{}' needs a name, `run` and, unless has_late_outputs is 1, `infer_shapes`", name));
    }
    return std::make_shared<const CustomOperator>(given);
}

void OwnOperator(const ICustomOperator& custom)
{
    static_cast<const CustomOperator&>(custom).Own(); // which is what MakeCustomOperator made
}

} // namespace tenon::c_api
