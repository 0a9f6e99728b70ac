// SPDX-License-Identifier: Apache-2.0
// A loop cut into pieces that each have working memory of their own, made ready in the prepare step. How it is cut does
// not depend on the number of threads. Used by BatchMatMul and the convolutions of volumes.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace tenon::ref
{

/// At most this many pieces: enough for the threads of a CPU, few enough for their working memory.
constexpr size_t MaxPieces = 16;

/// Calls f(piece, begin, end) for up to MaxPieces pieces that make up [0, count), on the threads of `parallel`.
template <typename F>
void RunPieces(IParallelFor& parallel, size_t count, const F& f)
{
    const size_t pieces = std::min(count, MaxPieces);
    const auto body = [&f, count, pieces](size_t first, size_t last)
    {
        for (size_t piece = first; piece < last; ++piece)
        {
            // The first `longer` pieces have one element more than the others.
            const size_t size = count / pieces;
            const size_t longer = count % pieces;
            const size_t begin = piece * size + std::min(piece, longer);
            f(piece, begin, begin + size + (piece < longer ? 1 : 0));
        }
    };
    parallel.Run(pieces, 1, std::ref(body)); // by reference: a copy could need memory
}

} // namespace tenon::ref
