// SPDX-License-Identifier: Apache-2.0
// RealFft2d: the Fourier transform of real numbers over the last two dimensions, or back, in double precision. Each
// slice is transformed in scratch memory: its rows as real numbers, its columns as complex ones.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/Fft.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <bit>
#include <complex>
#include <functional>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow RealFft2dTypes[] = {backends::Types({DataType::Float32}, DataType::Complex64),
                                                backends::Types({DataType::Complex64}, DataType::Float32)};

/// The transform of one slice of the input.
struct Transform
{
    size_t m_Slices = 0;
    size_t m_InputHeight = 0;
    size_t m_InputWidth = 0;
    size_t m_Height = 0; ///< height of the real side
    size_t m_Width = 0;
    RealFft m_Rows;
    ComplexFft m_Columns;
    size_t m_ColumnsAt = 0; ///< offset in the scratch memory, after the slice: a column for each task of the loop

    size_t GetFrequencies() const { return m_Rows.GetNumFrequencies(); } ///< frequencies of a row
};

/// Calls f(row) for each row, on all threads.
template <typename F>
void ForEachRow(const Transform& t, const ExecuteArgs& args, const F& f)
{
    const auto body = [&f](size_t begin, size_t end)
    {
        for (size_t y = begin; y < end; ++y)
        {
            f(y);
        }
    };
    args.m_Parallel->Run(t.m_Height, 1, std::ref(body));
}

/// Calls f(column, memory for a column) for each column, on all threads.
template <typename F>
void ForEachColumn(const Transform& t, const ExecuteArgs& args, const F& f)
{
    const auto columns = [&](size_t task, size_t begin, size_t end)
    {
        Complex* column = Scratch::At<Complex>(args.m_Scratch, t.m_ColumnsAt) + task * t.m_Height;
        for (size_t x = begin; x < end; ++x)
        {
            f(x, column);
        }
    };
    RunTasks(*args.m_Parallel, t.GetFrequencies(), columns);
}

void RunForward(const Transform& t, const ExecuteArgs& args, const float* in, std::complex<float>* out)
{
    auto* work = static_cast<Complex*>(args.m_Scratch);
    const size_t width = t.GetFrequencies();
    const size_t used = std::min(t.m_InputWidth, t.m_Width);
    ForEachRow(t, args,
               [&](size_t y)
               {
                   Complex* row = work + y * width;
                   std::fill_n(row, width, Complex());
                   for (size_t x = 0; y < t.m_InputHeight && x < used; ++x)
                   {
                       const auto value = static_cast<double>(in[y * t.m_InputWidth + x]);
                       (x % 2 == 0 ? row[x / 2].m_Real : row[x / 2].m_Imaginary) = value;
                   }
                   t.m_Rows.Forward(row);
               });
    ForEachColumn(
        t, args,
        [&](size_t x, Complex* column)
        {
            for (size_t y = 0; y < t.m_Height; ++y)
            {
                column[y] = work[y * width + x];
            }
            t.m_Columns.Run(column, FftDirection::Forward);
            for (size_t y = 0; y < t.m_Height; ++y)
            {
                out[y * width + x] = {static_cast<float>(column[y].m_Real), static_cast<float>(column[y].m_Imaginary)};
            }
        });
}

/// Frequencies of real numbers mirror each other within the first and the last column. If the input contradicts that,
/// the first column's lower half counts and the last one's upper half, as in TFLite.
void Mirror(Complex* column, size_t height, bool isFirst)
{
    column[0].m_Imaginary = 0.0;
    column[height / 2].m_Imaginary = 0.0;
    for (size_t y = 1; y < height / 2; ++y)
    {
        Complex& low = column[y];
        Complex& high = column[height - y];
        (isFirst ? high : low) = Conjugate(isFirst ? low : high);
    }
}

void RunBackward(const Transform& t, const ExecuteArgs& args, const std::complex<float>* in, float* out)
{
    auto* work = static_cast<Complex*>(args.m_Scratch);
    const size_t width = t.GetFrequencies();
    ForEachColumn(t, args,
                  [&](size_t x, Complex* column)
                  {
                      std::fill_n(column, t.m_Height, Complex());
                      for (size_t y = 0; x < t.m_InputWidth && y < std::min(t.m_InputHeight, t.m_Height); ++y)
                      {
                          const std::complex<float> given = in[y * t.m_InputWidth + x];
                          column[y] = {static_cast<double>(given.real()), static_cast<double>(given.imag())};
                      }
                      if (x == 0 || x == t.m_Width / 2)
                      {
                          Mirror(column, t.m_Height, x == 0);
                      }
                      t.m_Columns.Run(column, FftDirection::Backward);
                      for (size_t y = 0; y < t.m_Height; ++y)
                      {
                          work[y * width + x] = column[y];
                      }
                  });
    const double scale = 1.0 / (static_cast<double>(t.m_Height) * static_cast<double>(t.m_Width));
    ForEachRow(t, args,
               [&](size_t y)
               {
                   Complex* row = work + y * width;
                   t.m_Rows.Backward(row);
                   for (size_t x = 0; x < t.m_Width; ++x)
                   {
                       const double value = x % 2 == 0 ? row[x / 2].m_Real : row[x / 2].m_Imaginary;
                       out[y * t.m_Width + x] = static_cast<float>(value * scale);
                   }
               });
}

void CheckShapes(const ReshapeArgs& args, const RealFft2dDescriptor& descriptor)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    const std::string what = "a transform of " + std::to_string(descriptor.m_Height) + " x " +
                             std::to_string(descriptor.m_Width) + " from " + input.ToString() + " to " +
                             output.ToString();
    if (!std::has_single_bit(descriptor.m_Height) || !std::has_single_bit(descriptor.m_Width))
    {
        throw LayerValidationException(what + ": height and width must be powers of two");
    }
    TensorShape expected = input;
    if (rank >= 2)
    {
        expected.SetDimensionSize(rank - 2, descriptor.m_Height);
        expected.SetDimensionSize(rank - 1, descriptor.m_Inverse ? descriptor.m_Width : descriptor.m_Width / 2 + 1);
    }
    if (rank < 2 || output != expected)
    {
        throw LayerValidationException(what + ": the shapes do not fit together");
    }
}

Prepared PrepareRealFft2d(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<RealFft2dDescriptor>();
    CheckShapes(args, descriptor);
    const TensorShape& input = args.GetInput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    const uint64_t elements = args.GetOutput(0).GetShape().GetNumElements64();
    if (elements == 0)
    {
        return [](const ExecuteArgs&) {}; // returned before memory for an empty transform is allocated
    }
    const size_t sliceOutput = size_t{args.GetOutput(0).GetShape()[rank - 2]} * args.GetOutput(0).GetShape()[rank - 1];
    Transform t = {static_cast<size_t>(elements) / sliceOutput,
                   input[rank - 2],
                   input[rank - 1],
                   descriptor.m_Height,
                   descriptor.m_Width,
                   RealFft(descriptor.m_Width),
                   ComplexFft(descriptor.m_Height)};
    Scratch scratch;
    scratch.Add<Complex>(t.m_Height, t.GetFrequencies());
    t.m_ColumnsAt = scratch.Add<Complex>(t.m_Height, std::min(t.GetFrequencies(), MaxTasks));
    const size_t sliceInput = t.m_InputHeight * t.m_InputWidth;
    const auto run = [t, sliceInput, sliceOutput, inverse = descriptor.m_Inverse](const ExecuteArgs& execute)
    {
        for (size_t slice = 0; slice < t.m_Slices; ++slice)
        {
            const size_t in = slice * sliceInput;
            const size_t out = slice * sliceOutput;
            if (inverse)
            {
                RunBackward(t, execute, execute.GetInput<std::complex<float>>(0) + in,
                            execute.GetOutput<float>(0) + out);
            }
            else
            {
                RunForward(t, execute, execute.GetInput<float>(0) + in,
                           execute.GetOutput<std::complex<float>>(0) + out);
            }
        }
    };
    return Prepared(run, scratch.GetBytes());
}

SupportResult CheckRealFft2d(const LayerView& layer)
{
    const bool inverse = layer.GetDescriptor<RealFft2dDescriptor>().m_Inverse;
    if ((layer.GetInput(0).GetDataType() == DataType::Complex64) != inverse)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 inverse ? "an inverse transform takes Complex64 and gives Float32"
                                         : "a transform takes Float32 and gives Complex64");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefRealFft2dKernel = {"RefRealFft2d", RealFft2dTypes, PrepareRealFft2d, CheckRealFft2d};

} // namespace tenon::ref
