// SPDX-License-Identifier: Apache-2.0
// Model: the bytes of a .tflite file, verified. Later reads of the flatbuffer stay within bounds; indices, sizes and
// shapes are checked where they are used (TensorTable, OperatorReader).
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/tflite/containers/ContainedModel.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::tflite
{

namespace schema
{
struct ExternalBuffer;
struct Model;
struct Operator;
struct SubGraph;
struct Tensor;
} // namespace schema

class Model
{
public:
    /// Copies the bytes. Throws ParseException when they are no model.
    static Model FromCopy(Span<const uint8_t> bytes, const Limits& limits);
    /// Uses the bytes of a model of `file` in place if they are aligned as FlatBuffers needs; else copies them.
    static Model FromFile(const ModelBytes& file, const ContainedModel& model, const Limits& limits);

    const schema::Model& Root() const { return *m_Root; }
    /// All bytes of the model, among them those behind the flatbuffer.
    Span<const uint8_t> Bytes() const { return m_Bytes; }
    const Limits& GetLimits() const { return m_Limits; }
    /// Keeps the bytes alive; null when the caller does.
    const std::shared_ptr<const void>& Owner() const { return m_Owner; }

    /// Throws ParseException when there is no such subgraph.
    const schema::SubGraph& Subgraph(size_t index) const;
    /// The number of subgraphs, without subgraphs that only serve to validate others ("VALIDATION:...").
    size_t NumSubgraphs() const;

    /// Bytes of a buffer; none for buffer 0, which stands for "no data". Throws ParseException for a bad index or
    /// range.
    Span<const uint8_t> BufferData(uint32_t buffer) const;
    /// Bytes of a constant tensor, which a buffer or an external buffer has. Throws ParseException for a bad index or
    /// range, UnimplementedException for an external buffer in a file that is not there.
    Span<const uint8_t> TensorData(const schema::Tensor& tensor) const;
    /// The options of a custom operator.
    Span<const uint8_t> CustomOptions(const schema::Operator& op) const;

    /// Counts bytes that are read out of the model: see ReadBudget.
    void Charge(size_t bytes) { m_Budget.Charge(bytes); }
    /// The number of bytes counted so far.
    uint64_t Charged() const { return m_Budget.Charged(); }
    ReadBudget& Budget() { return m_Budget; }

private:
    Model(ModelBytes file, const Limits& limits);
    void IndexExternalBuffers();
    Span<const uint8_t> ExternalData(uint32_t id) const;
    Span<const uint8_t> Range(uint64_t offset, uint64_t size, const char* what) const;

    std::shared_ptr<const void> m_Owner;
    Span<const uint8_t> m_Bytes;
    Span<const uint8_t> m_Weights; ///< see ContainedModel
    const schema::Model* m_Root = nullptr;
    std::unordered_map<uint32_t, const schema::ExternalBuffer*> m_ExternalBuffers; ///< by their ids
    Limits m_Limits;
    ReadBudget m_Budget;
};

} // namespace tenon::tflite
