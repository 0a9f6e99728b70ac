// SPDX-License-Identifier: Apache-2.0
// PreparedNetwork: the model of the options on its way to the first run: parsed, optimized and loaded, with inputs and
// memory for outputs. The classes that run it derive from it.
#pragma once

#include "tools/common/ErrorAttribution.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/common/RandomInputs.hpp"
#include "tools/execute_network/FileSeries.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/Report.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IRuntime.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::tools
{

class PreparedNetwork
{
protected:
    /// `options` must outlive it.
    explicit PreparedNetwork(const Options& options);

    // The steps, in their order.

    void CreateRuntime();

    /// Parses the model and reads the inputs; parses again when these have other shapes than the model says.
    Model PrepareModel();

    /// The network after optimization; that of a file of an optimized network as it is.
    IOptimizedNetworkPtr Optimized(Model model, const std::vector<BackendId>& backends);

    void Load(IOptimizedNetworkPtr network);

    /// Random values, which take long for large inputs, come last, after all refusals.
    void FillInputs(Distribution distribution = Distribution::Uniform);

    // Their parts, and queries.

    Model Parse(const std::map<std::string, TensorShape>& shapes);

    /// Whether each iteration has input files of its own.
    bool HasSets() const { return m_Inputs.size() > m_Report.m_Inputs.size(); }

    std::span<const InputData> InputsOf(unsigned int iteration) const;
    InputTensors TensorsOf(unsigned int iteration) const;

    /// Puts the failures of files of a series into the report.
    std::function<void(size_t, const std::string&)> FailureReporter();

    const Options& m_Options;
    ErrorAttribution m_Blame;
    const Limits m_Limits;
    Report m_Report;
    FileSeries m_Series; ///< the files of folders and patterns
    /// All sets of files, one set after another; of a series the inputs of the present inference.
    std::vector<InputData> m_Inputs;
    OutputStore m_Outputs;
    std::map<std::string, TensorShape> m_NewShapes; ///< shapes of inputs by name, where the model has others
    std::optional<ModelFile> m_ModelFile;           ///< outlives the runtime, whose networks may use it in place
    IRuntimePtr m_Runtime{nullptr, &IRuntime::Destroy};
    NetworkId m_Network = 0;
    NetworkStructure m_Structure; ///< read if a profile is to be made

private:
    IOptimizedNetworkPtr Optimize(const INetwork& network, const std::vector<BackendId>& backends);
    /// All sets of files, or the first files of a series.
    void ReadInputs();
    void SelectOutputs(const Model& model);
};

} // namespace tenon::tools
