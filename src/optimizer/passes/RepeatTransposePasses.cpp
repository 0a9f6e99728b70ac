// SPDX-License-Identifier: Apache-2.0
// Pass RepeatTransposePasses: repeats MoveReshapes, SinkTransposes, FoldTransposes and MoveTransposes until nothing
// changes, at most four times. A Transpose that moves behind a Reshape or Concat may meet another Transpose, or a
// region of layers that it can move through, and the other way around.
#include "optimizer/Pass.hpp"

namespace tenon::passes
{

void RepeatTransposePasses(Graph& graph)
{
    constexpr int MaxRounds = 4; // what is left then is rare, and right
    for (int round = 0; round < MaxRounds; ++round)
    {
        RemoveDeadLayers(graph); // which would hold Transposes back
        const uint64_t edits = graph.NumEdits();
        MoveReshapes(graph);
        SinkTransposes(graph);
        if (graph.NumEdits() == edits)
        {
            break;
        }
        FoldTransposes(graph);
        MoveTransposes(graph);
    }
}

} // namespace tenon::passes
