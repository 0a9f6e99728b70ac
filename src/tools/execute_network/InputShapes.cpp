// SPDX-License-Identifier: Apache-2.0
// See InputShapes.hpp.
#include "tools/execute_network/InputShapes.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/InputPlace.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

namespace tenon::tools
{

std::vector<std::vector<unsigned int>> OrderShapes(const Options& options, size_t numInputs)
{
    std::vector<std::vector<unsigned int>> shapes = options.m_InputShapes;
    const size_t wanted = options.m_InputNames.empty() ? numInputs : options.m_InputNames.size();
    while (shapes.size() > wanted && shapes.back().empty())
    {
        shapes.pop_back();
    }
    if (!shapes.empty() && shapes.size() != wanted)
    {
        throw UsageError(
            fmt::format("--input-tensor-shape: {} shape(s) are given for {} input(s)", shapes.size(), wanted));
    }
    shapes.resize(numInputs);
    return shapes;
}

std::string DescribeNewShape(const Binding& binding, const TensorShape& shape, size_t index, const Options& options)
{
    std::string from = "from --input-tensor-shape";
    if (index >= options.m_InputShapes.size() || options.m_InputShapes[index].empty())
    {
        const std::vector<std::string>& files = options.m_InputFiles; // one .npz file is for all inputs
        from = files.empty() ? "open dimensions taken as 1" : "from " + files[index < files.size() ? index : 0];
    }
    return fmt::format("{} as {} ({}; the model says {})", PlaceOf(binding), shape.ToString(), OneLine(from),
                       binding.m_Info.GetShape().ToString());
}

} // namespace tenon::tools
