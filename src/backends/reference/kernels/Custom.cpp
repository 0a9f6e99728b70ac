// SPDX-License-Identifier: Apache-2.0
// Custom: runs the kernel of an application's own operator (ICustomOperator).
#include "backends/common/KernelTable.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/ICustomOperator.hpp>

#include <string>
#include <utility>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow CustomTypes[] = {backends::Types({backends::AnyType}, backends::AnyType)};

/// The operator's own workload, made in the create step.
class CustomWorkload final : public backends::PackedWeights
{
public:
    explicit CustomWorkload(std::unique_ptr<IWorkload> workload) : m_Workload(std::move(workload)) {}
    const IWorkload& Get() const { return *m_Workload; }

private:
    std::unique_ptr<IWorkload> m_Workload;
};

SupportResult CheckCustom(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<CustomDescriptor>();
    if (descriptor.m_Operator == nullptr)
    {
        return SupportResult::No(SupportCode::UnknownLayer,
                                 "operator '" + descriptor.m_Name +
                                     "' is not known, and no implementation of that name was given");
    }
    return descriptor.m_Operator->IsSupported(layer);
}

std::unique_ptr<backends::PackedWeights> MakeCustom(const LayerView& layer, backends::PackedStore&)
{
    const auto& descriptor = layer.GetDescriptor<CustomDescriptor>();
    std::unique_ptr<IWorkload> workload = descriptor.m_Operator->CreateWorkload(layer);
    if (workload == nullptr)
    {
        throw NullPointerException("custom operator '" + descriptor.m_Name + "' made no workload");
    }
    return std::make_unique<CustomWorkload>(std::move(workload));
}

backends::Prepared PrepareCustom(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    std::shared_ptr<const IShapedWorkload> shaped = static_cast<const CustomWorkload*>(packed)->Get().Reshape(args);
    const size_t scratchBytes = shaped->GetScratchBytes();
    return {[shaped = std::move(shaped)](const ExecuteArgs& execute) { shaped->Execute(execute); }, scratchBytes};
}

} // namespace

extern const backends::Kernel RefCustomKernel = {"RefCustom", CustomTypes, &PrepareCustom, &CheckCustom, &MakeCustom};

} // namespace tenon::ref
