// SPDX-License-Identifier: Apache-2.0
// RunComparison: --compare-with. Each inference of the run is compared with one of the reference, or with files.
#pragma once

#include "tools/common/ErrorAttribution.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/compare/Comparison.hpp"
#include "tools/compare/Reference.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/OtherNetwork.hpp"

#include <tenon/IRuntime.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::tools
{

/// The network of the run, as the comparison needs it.
struct TestedNetwork
{
    std::vector<BackendId> m_Backends;
    NetworkId m_Network = 0;
    std::vector<LayerAssignment> m_Assignment;
    std::vector<Binding> m_Inputs;                  ///< in the order of the inputs of a run
    std::vector<Binding> m_Outputs;                 ///< those to compare
    std::map<std::string, TensorShape> m_NewShapes; ///< shapes that its inputs do not have in the model
    uint64_t m_InputBytes = 0;
    bool m_IsReadOptimized = false; ///< a file of an optimized network
    std::function<Model()> m_Parse; ///< its model once more
};

class RunComparison
{
public:
    /// Chooses the reference. Throws the errors of ChooseReference. Both must outlive it.
    RunComparison(const Options& options, IRuntime& runtime);

    /// Whether inputs are new random values for each run.
    bool HasRandomSets() const { return m_Options.m_InputFiles.empty() && m_Reference.m_Files.empty(); }

    /// Replaces random inputs that the reference has quantized by numbers that its inputs stand for. `set` is the
    /// number of the run.
    void ShareRandomInputs(std::vector<InputData>& inputs, uint64_t set) const;

    /// Loads the reference. Throws InputError if inputs or outputs of another model do not fit, and UsageError if there
    /// is none that can run.
    void Load(TestedNetwork tested);

    /// Runs the reference with the inputs of run `index`, and compares the outputs. `file` is the first file of the
    /// inputs in a series, else empty. Throws as a run does.
    void AddRun(size_t index, const std::string& file, std::span<const InputData> inputs, double testedMs,
                const OutputStore& outputs);

    /// Runs both networks once more with the inputs of a run, layer by layer.
    void CompareLayers(std::span<const InputData> inputs);

    /// Must be called before the runtime is gone.
    void Unload() { m_Network.reset(); }

    const Comparison& Get() const { return m_Comparison; }

    /// Throws ToleranceError if outputs are out of the tolerance.
    void CheckTolerance() const;

private:
    Model LoadOtherModel();
    Model ParseReference() const;
    void MatchInputs(const std::vector<Binding>& inputs);
    void MatchOutputs(const std::vector<Binding>& outputs);
    std::vector<BackendId> ChooseBackends() const;
    InputTensors MakeInputs(std::span<const InputData> inputs);
    /// The number of files for each run, if they are no folders.
    size_t CountFilesOfRun() const;
    std::vector<std::string> FilesOf(size_t index, const std::string& file) const;
    const std::vector<OutputData>& ReadExpected(size_t index, const std::string& file, const OutputStore& outputs);

    const Options& m_Options;
    IRuntime& m_Runtime;
    Reference m_Reference;
    Options m_ReferenceOptions; ///< without options that change numbers: their effect is compared
    TestedNetwork m_Tested;
    std::optional<ModelFile> m_ModelFile; ///< of another model
    ErrorAttribution m_Blame;
    std::map<std::string, TensorShape> m_Shapes; ///< of the other model's inputs, where they differ from its own
    std::vector<Binding> m_Inputs;               ///< of the reference
    std::vector<size_t> m_Sources;               ///< the input of the tested network for each of them
    std::vector<Binding> m_Outputs;              ///< of the reference, for each output to compare
    std::vector<InputData> m_Converted;          ///< inputs in other types, of the present run
    /// Expected outputs by their files, which may be pipes that are read once.
    std::map<std::vector<std::string>, std::vector<OutputData>> m_Expected;
    std::unique_ptr<OtherNetwork> m_Network; ///< null without a reference to run
    Comparison m_Comparison;
};

} // namespace tenon::tools
