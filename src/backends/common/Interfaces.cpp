// SPDX-License-Identifier: Apache-2.0
// Destructors of the backend interfaces: out of line, so that their virtual tables and type information live in
// libtenon alone and work across a shared-library boundary.
#include <tenon/backend/IBackend.hpp>
#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>

namespace tenon
{

IBackend::~IBackend() = default;
ICustomOperator::~ICustomOperator() = default;
ILayerSupport::~ILayerSupport() = default;

SupportResult ILayerSupport::IsActivationFusable(const LayerView&, const ActivationDescriptor&) const
{
    return SupportResult::No(SupportCode::UnsupportedParameters, "applies no activations in other layers");
}

IWorkloadFactory::~IWorkloadFactory() = default;
IWorkload::~IWorkload() = default;
IShapedWorkload::~IShapedWorkload() = default;
IParallelFor::~IParallelFor() = default;
ILateOutputs::~ILateOutputs() = default;

} // namespace tenon
