// SPDX-License-Identifier: Apache-2.0
// See ChunksF16.hpp.
#include "backends/cpu/half/ChunksF16.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/OneThread.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;
using ref::CountElements;

constexpr size_t MostInputs = 6; // largest number of inputs of a layer that is cut
/// Elements of a chunk of the output: as floats, with one input of that size, a first-level cache of 32 KiB.
constexpr size_t PieceElements = 4096;

/// The output's dimensions [m_Begin, m_End) are read as one, which is cut into chunks of m_Rows indices.
struct Cut
{
    unsigned int m_Begin = 0;
    unsigned int m_End = 0;
    size_t m_Indices = 1;
    size_t m_Rows = 1;
    size_t m_RowElements = 1; ///< elements of the output for each index
};

/// An input or the output.
struct Tensor
{
    TensorShape m_Shape;      ///< padded by leading ones to the rank of the output
    unsigned int m_Ones = 0;  ///< number of leading ones
    size_t m_RowElements = 0; ///< elements for each index of the cut dimensions; 0: broadcast along them
    size_t m_PieceElements = 0;
    size_t m_Floats = 0;                                    ///< offset in the scratch memory of a task
    std::array<size_t, MaxNumOfTensorDimensions> m_Steps{}; ///< elements, by dimension before the cut ones
};

/// An input of this shape; none if it cannot be broadcast to the first `last` dimensions of the output.
std::optional<Tensor> FitShape(const TensorShape& shape, const TensorShape& output, unsigned int last)
{
    const unsigned int rank = output.GetNumDimensions();
    if (shape.GetNumDimensions() > rank)
    {
        return std::nullopt;
    }
    std::vector<unsigned int> sizes(rank, 1);
    const unsigned int missing = rank - shape.GetNumDimensions();
    for (unsigned int i = missing; i < rank; ++i)
    {
        sizes[i] = shape[i - missing];
        if (i < last && sizes[i] != 1 && sizes[i] != output[i])
        {
            return std::nullopt;
        }
    }
    Tensor tensor;
    tensor.m_Shape = TensorShape(rank, sizes.data());
    tensor.m_Ones = missing;
    return tensor;
}

/// Cuts along the first dimension whose indices are small enough, together with the preceding dimensions along which
/// each input is broadcast, or not, as it is along the first one.
Cut ChooseCut(const TensorShape& output, unsigned int last, const std::vector<Tensor>& inputs)
{
    Cut cut;
    cut.m_End = last;
    while (cut.m_End > 1 && CountElements(output, cut.m_End - 1, output.GetNumDimensions()) <= PieceElements)
    {
        --cut.m_End;
    }
    cut.m_Begin = cut.m_End - 1;
    const auto along = [&](const Tensor& input, unsigned int dimension)
    { return input.m_Shape[dimension] == output[dimension]; };
    while (cut.m_Begin > 0 && std::all_of(inputs.begin(), inputs.end(),
                                          [&](const Tensor& input)
                                          { return along(input, cut.m_Begin - 1) == along(input, cut.m_End - 1); }))
    {
        --cut.m_Begin;
    }
    cut.m_Indices = CountElements(output, cut.m_Begin, cut.m_End);
    cut.m_RowElements = CountElements(output, cut.m_End, output.GetNumDimensions());
    cut.m_Rows = std::clamp<size_t>(PieceElements / std::max<size_t>(cut.m_RowElements, 1), 1, cut.m_Indices);
    return cut;
}

/// Sets the sizes and strides of a tensor's chunks, and reserves their scratch memory.
void Place(Tensor& tensor, const TensorShape& output, const Cut& cut, Scratch& part)
{
    const TensorShape& shape = tensor.m_Shape;
    const size_t rest = CountElements(shape, cut.m_End, shape.GetNumDimensions());
    const size_t indices = CountElements(shape, cut.m_Begin, cut.m_End);
    tensor.m_RowElements = indices == cut.m_Indices ? rest : 0;
    tensor.m_PieceElements = tensor.m_RowElements != 0 ? rest * cut.m_Rows : rest;
    tensor.m_Floats = part.Add<float>(tensor.m_PieceElements);
    size_t step = indices * rest;
    for (unsigned int i = cut.m_Begin; i-- > 0;)
    {
        tensor.m_Steps[i] = shape[i] == 1 && output[i] != 1 ? 0 : step;
        step *= shape[i];
    }
}

/// The shape of a chunk of `rows` indices, with the rank of the tensor.
TensorShape CutShape(const Tensor& tensor, const Cut& cut, size_t rows)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = tensor.m_Ones; i < tensor.m_Shape.GetNumDimensions(); ++i)
    {
        const bool isCut = i + 1 == cut.m_End && tensor.m_RowElements != 0;
        sizes.push_back(i >= cut.m_End ? tensor.m_Shape[i] : isCut ? static_cast<unsigned int>(rows) : 1);
    }
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

class HalfPieces
{
public:
    using Prepare = backends::Prepared (*)(const ReshapeArgs&, const backends::PackedWeights*);

    HalfPieces(const ReshapeArgs& args, unsigned int last, std::vector<Tensor> inputs, Prepare prepare,
               const ref::HalfLoops& loops)
        : m_Type(args.GetOutput(0).GetDataType()), m_Loops(&loops), m_OutputShape(args.GetOutput(0).GetShape()),
          m_Cut(ChooseCut(m_OutputShape, last, inputs)), m_Inputs(std::move(inputs))
    {
        Scratch part;
        m_Output.m_Shape = m_OutputShape;
        Place(m_Output, m_OutputShape, m_Cut, part);
        for (Tensor& input : m_Inputs)
        {
            Place(input, m_OutputShape, m_Cut, part);
        }
        size_t inner = 0;
        const size_t left = m_Cut.m_Indices % m_Cut.m_Rows;
        for (const size_t rows : {m_Cut.m_Rows, left})
        {
            backends::Prepared prepared = rows == 0 ? backends::Prepared() : PrepareRows(args, rows, prepare);
            inner = std::max(inner, prepared.m_ScratchBytes);
            m_Name = rows == 0 ? m_Name : prepared.m_KernelName;
            m_Declined = m_Declined != nullptr ? m_Declined : prepared.m_Declined;
            m_Run[rows == left ? 1 : 0] = std::move(prepared.m_Run);
        }
        m_InnerOffset = part.Add<std::byte>(inner);
        m_PartBytes = part.GetBytes();
        const size_t pieceBytes = m_Output.m_PieceElements * sizeof(float) * (1 + m_Inputs.size());
        m_Parts = std::min(GetMaxParts(args.m_MaxThreads), DivideUp(CountPieces(), GetGrain(pieceBytes)));
        m_Scratch.AddParts(part, m_Parts);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    const char* GetKernelName() const { return m_Name; }
    const char* GetDeclined() const { return m_Declined; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        RunParts(*args.m_Parallel, parts,
                 [&](size_t index)
                 {
                     RunPart(args, GetPart(CountPieces(), parts, index),
                             static_cast<std::byte*>(args.m_Scratch) + index * m_PartBytes);
                 });
    }

private:
    size_t CountPiecesOfRun() const { return DivideUp(m_Cut.m_Indices, m_Cut.m_Rows); }
    size_t CountPieces() const { return CountElements(m_OutputShape, 0, m_Cut.m_Begin) * CountPiecesOfRun(); }

    backends::Prepared PrepareRows(const ReshapeArgs& args, size_t rows, Prepare prepare) const
    {
        std::vector<TensorInfo> infos;
        infos.reserve(m_Inputs.size() + 1);
        std::vector<const TensorInfo*> inputs;
        for (const Tensor& input : m_Inputs)
        {
            inputs.push_back(&infos.emplace_back(CutShape(input, m_Cut, rows), DataType::Float32));
        }
        const TensorInfo* const output = &infos.emplace_back(CutShape(m_Output, m_Cut, rows), DataType::Float32);
        const std::vector<const void*> constants(m_Inputs.size(), nullptr); // constants are not converted yet
        ReshapeArgs piece = args;
        piece.m_Inputs = inputs;
        piece.m_Outputs = {&output, 1};
        piece.m_ConstantData = constants;
        piece.m_MaxThreads = 1;
        return prepare(piece, nullptr);
    }

    size_t FindOffset(const Tensor& tensor, size_t piece) const
    {
        size_t offset = piece % CountPiecesOfRun() * m_Cut.m_Rows * tensor.m_RowElements;
        size_t rest = piece / CountPiecesOfRun();
        for (unsigned int i = m_Cut.m_Begin; i-- > 0;)
        {
            offset += rest % m_OutputShape[i] * tensor.m_Steps[i];
            rest /= m_OutputShape[i];
        }
        return offset;
    }

    void RunPart(const ExecuteArgs& args, const Part& pieces, std::byte* scratch) const
    {
        OneThread thread;
        std::array<const void*, MostInputs> inputs{};
        std::array<size_t, MostInputs> converted{};
        converted.fill(SIZE_MAX);
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            inputs[i] = Scratch::At<float>(scratch, m_Inputs[i].m_Floats);
        }
        void* const output = Scratch::At<float>(scratch, m_Output.m_Floats);
        ExecuteArgs run = args;
        run.m_Inputs = {inputs.data(), m_Inputs.size()};
        run.m_Outputs = {&output, 1};
        run.m_Scratch = scratch + m_InnerOffset;
        run.m_Parallel = &thread;
        for (size_t piece = pieces.m_Begin; piece < pieces.m_End; ++piece)
        {
            const size_t first = piece % CountPiecesOfRun() * m_Cut.m_Rows;
            const size_t rows = std::min(m_Cut.m_Rows, m_Cut.m_Indices - first);
            for (size_t i = 0; i < m_Inputs.size(); ++i)
            {
                const Tensor& input = m_Inputs[i];
                const size_t offset = FindOffset(input, piece);
                if (offset != converted[i])
                {
                    const size_t count = input.m_RowElements != 0 ? rows * input.m_RowElements : input.m_PieceElements;
                    m_Loops->m_Widen(thread, args.GetInput<uint16_t>(i) + offset, m_Type, count,
                                     Scratch::At<float>(scratch, input.m_Floats));
                    converted[i] = offset;
                }
            }
            m_Run[rows == m_Cut.m_Rows ? 0 : 1](run);
            m_Loops->m_Narrow(thread, static_cast<const float*>(output), m_Type, rows * m_Cut.m_RowElements,
                              args.GetOutput<uint16_t>(0) + FindOffset(m_Output, piece));
        }
    }

    DataType m_Type;
    const ref::HalfLoops* m_Loops;
    TensorShape m_OutputShape;
    Cut m_Cut;
    std::vector<Tensor> m_Inputs;
    Tensor m_Output;
    std::array<backends::Executor, 2> m_Run; ///< for whole chunks, and for the last chunk of a run
    const char* m_Name = nullptr;            ///< see Prepared::m_KernelName
    const char* m_Declined = nullptr;        ///< see Prepared::m_Declined
    size_t m_InnerOffset = 0;
    size_t m_PartBytes = 0;
    size_t m_Parts = 1;
    Scratch m_Scratch;
};

} // namespace

backends::Prepared PrepareHalfPieces(const ReshapeArgs& args, unsigned int whole,
                                     backends::Prepared (*prepare)(const ReshapeArgs&, const backends::PackedWeights*),
                                     const ref::HalfLoops& loops)
{
    const TensorInfo& output = args.GetOutput(0);
    const unsigned int rank = output.GetNumDimensions();
    bool isCut = args.m_Outputs.size() == 1 && args.m_Inputs.size() <= MostInputs && rank > whole &&
                 output.GetNumElements() > PieceElements;
    std::vector<Tensor> inputs;
    for (size_t i = 0; isCut && i < args.m_Inputs.size(); ++i)
    {
        isCut = args.HasInput(i) && args.GetInput(i).GetDataType() == output.GetDataType();
        auto input = isCut ? FitShape(args.GetInput(i).GetShape(), output.GetShape(), rank - whole) : std::nullopt;
        isCut = input.has_value();
        if (isCut)
        {
            inputs.push_back(std::move(*input));
        }
    }
    if (!isCut)
    {
        return ref::PrepareHalfAsFloat(args, prepare, nullptr, loops);
    }
    HalfPieces pieces(args, rank - whole, std::move(inputs), prepare, loops);
    const size_t bytes = pieces.GetScratchBytes();
    const char* const name = pieces.GetKernelName();
    const char* const declined = pieces.GetDeclined();
    backends::Prepared prepared(std::move(pieces), bytes);
    prepared.m_KernelName = name;
    prepared.m_Declined = declined;
    return prepared;
}

} // namespace tenon::cpu
