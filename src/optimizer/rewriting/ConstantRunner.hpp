// SPDX-License-Identifier: Apache-2.0
// ConstantRunner: runs a single layer on CpuRef while a network is optimized, so that folded values are those of the
// reference kernels. Used by ConstantFolding, FoldFunctionsInt8 and FoldQuantization.
#pragma once

#include "common/AlignedMemory.hpp"
#include "common/BackendNames.hpp"
#include "graph/MakeLayerView.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>

#include <memory>
#include <vector>

namespace tenon
{

/// One output of a layer that was run.
struct ConstantResult
{
    TensorInfo m_Info;
    std::shared_ptr<const AlignedMemory> m_Memory;
};

class ConstantRunner
{
public:
    /// The backend whose results are the standard.
    static constexpr const char* Backend = "CpuRef";

    ConstantRunner(const BackendRegistry& registry, const OptimizerOptionsOpaque& options);

    /// The outputs of a layer whose inputs are constants, or whose kernel reads nothing but their shapes. Empty where
    /// it cannot be run, or where outputs or scratch memory would have more than `maxBytes`.
    std::vector<ConstantResult> Run(const Layer& layer, uint64_t maxBytes);

private:
    std::vector<ConstantResult> TryRun(const Layer& layer, uint64_t maxBytes);

    const ModelOptions& m_Options;
    const Limits& m_Limits;
    std::shared_ptr<const IBackend> m_Backend; ///< null: it is not there
    std::shared_ptr<const ILayerSupport> m_Support;
    std::unique_ptr<IWorkloadFactory> m_Factory;
    LayerViewMaker m_Maker;
};

} // namespace tenon
