// SPDX-License-Identifier: Apache-2.0
// FileSeries: the files of folders and patterns in -d, each of which is an inference of its own. Run.cpp calls it.
#pragma once

#include "tools/common/FileSets.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/execute_network/Options.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

/// Whether -d names folders or patterns.
bool HasFileSeries(const Options& options);

/// The steps of an inference.
struct SeriesSteps
{
    std::function<void(size_t index)> m_Infer; ///< its errors are failures of the file
    /// Prints and writes the outputs of the inference of this number.
    std::function<void(size_t index)> m_Finish;
    /// Takes a failure of the inference of this number.
    std::function<void(size_t index, const std::string& error)> m_Fail;
};

/// Inferences that fail are named on standard error, and the others go on.
class FileSeries
{
public:
    /// Lists the files of -d; there are none, and nothing is to be called but IsUsed, if -d has no folder and no
    /// pattern. Throws UsageError for those without files, and for options that are for single files or iterations.
    explicit FileSeries(const Options& options);

    bool IsUsed() const { return !m_Lists.empty(); }

    /// Reads the first files that can be read, for a model with these inputs; `shapes` as for LoadInputs. All files
    /// must have the shapes of the model, of --input-tensor-shape or, where these are open, of the first ones. Throws
    /// UsageError if the lists do not fit the number of inputs, and an error if no file can be read.
    std::vector<InputData> LoadFirst(const std::vector<Binding>& inputs,
                                     const std::vector<std::vector<unsigned int>>& shapes,
                                     const std::function<void(size_t index, const std::string& error)>& fail);

    /// The result of LoadFirst once more.
    std::vector<InputData> LoadFirstAgain() const { return Load(m_First); }

    /// The files of each inference.
    const std::vector<std::vector<std::string>>& Sets() const { return m_Sets; }

    /// "a.png" or "a/1.npy, b/1.npy"
    std::string DescribeSet(size_t index) const;

    /// Runs all inferences. `inputs` are those of LoadFirst, and then those of each further set. Throws an error if all
    /// of them failed.
    void Run(std::vector<InputData>& inputs, const SeriesSteps& steps);

    /// "12 files, 1 of them failed", and "sets of files" for a network of several inputs.
    std::string Summarize() const;

    /// Throws InputError if inferences failed because of their files alone, and RunError if some failed otherwise.
    void ThrowIfFailed() const;

private:
    /// Prints and counts a failure.
    void Fail(size_t index, const std::string& error, bool isOfInput,
              const std::function<void(size_t, const std::string&)>& fail);
    /// Throws InputError, and RunError if memory is exhausted.
    std::vector<InputData> Load(size_t index) const;
    /// The same without exceptions: nothing if the files cannot be read.
    std::optional<std::vector<InputData>> TryLoad(size_t index,
                                                  const std::function<void(size_t, const std::string&)>& fail);
    bool TryInfer(size_t index, const SeriesSteps& steps);
    const char* NameSets() const;

    const Options& m_Options;
    std::vector<FileList> m_Lists;
    std::vector<std::vector<std::string>> m_Sets;
    std::vector<Binding> m_Inputs; ///< with the shapes that all files have, once these are known
    std::vector<std::vector<unsigned int>> m_Shapes;
    std::string m_ShapesFrom = "the model"; ///< for messages
    size_t m_First = 0;                     ///< the first inference whose files can be read
    size_t m_NumFailed = 0;
    bool m_IsFailureOfInputs = true; ///< so far
    bool m_HasPicture = false;
};

} // namespace tenon::tools
