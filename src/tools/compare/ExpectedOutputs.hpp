// SPDX-License-Identifier: Apache-2.0
// Files with the expected outputs of a run, in the formats of --write-outputs-to-file, and .npz files.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <string>
#include <vector>

namespace tenon::tools
{

/// An output of a run, which a file's type and shape must match.
struct NamedInfo
{
    std::string m_Name;
    TensorInfo m_Info;
};

/// The tensors of one file for each output, or of one .npz file, by the names of the outputs or as arr_0, arr_1 and so
/// on. `option` is for messages. Throws InputError, which names the file and its output, also if the shape or the type
/// differs; UsageError for another number of files.
std::vector<OutputData> ReadExpectedOutputs(const std::vector<std::string>& files,
                                            const std::vector<NamedInfo>& outputs, const char* option,
                                            const Limits& limits);

} // namespace tenon::tools
