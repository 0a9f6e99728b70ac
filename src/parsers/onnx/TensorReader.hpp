// SPDX-License-Identifier: Apache-2.0
// TensorReader: makes Values of the tensors in an ONNX file: initializers and tensors in attributes. Data is used in
// place, in the model's file or in a file of external data, if its alignment allows.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/onnx/Messages.hpp"
#include "parsers/onnx/Value.hpp"

#include <tenon/Limits.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace tenon::onnx
{

/// The layers' type for an element type; nothing if there is none.
std::optional<DataType> ToDataType(ElementType type);
/// The same; throws UnimplementedException that names the type.
DataType ToLayerType(ElementType type);
/// Whether elements are integers of 4 bits.
bool IsFourBits(ElementType type);
/// The type of a constant: integers of 4 bits are read as 8-bit integers. Throws as ToLayerType.
DataType ToConstantType(ElementType type);

class TensorReader
{
public:
    /// `owner` keeps the model's bytes alive; null if the caller does. `folder` has the external data; empty if there
    /// is none. Links in it may lead to files of `folderBehindLink`, the folder of the model's file if its path is a
    /// link, else empty. `buffers` are external data in memory, by location; they outlive the reader.
    TensorReader(std::shared_ptr<const void> owner, size_t bytes, std::string folder, std::string folderBehindLink,
                 const std::map<std::string, Span<const uint8_t>>& buffers, const Limits& limits);

    /// Throws ParseException for a tensor that contradicts itself, UnimplementedException for an element type that no
    /// layer has, and FileNotFoundException for a missing file of external data.
    Value Read(const TensorMessage& tensor);
    Value Read(const SparseTensorMessage& tensor);

private:
    struct Data
    {
        Span<const uint8_t> m_Bytes;
        std::shared_ptr<const void> m_Owner;
        ReadBudget* m_Budget = nullptr; ///< budget of the file that they come from
    };

    Data ReadData(const TensorMessage& tensor, DataType type, uint64_t elements);
    Data ReadExternal(const TensorMessage& tensor, uint64_t needed);
    Data OpenExternal(const std::string& location);
    Data ReadTyped(const TensorMessage& tensor, DataType type);
    static Data Own(std::vector<uint8_t> bytes);
    Data Keep(const std::string& location, const Data& data);

    std::shared_ptr<const void> m_Owner;
    std::string m_Folder;
    std::string m_FolderBehindLink;
    const std::map<std::string, Span<const uint8_t>>& m_Buffers;
    Limits m_Limits;
    ReadBudget m_Budget;
    uint64_t m_DenseBytes = 0; ///< bytes of sparse tensors when dense
    std::map<std::string, std::unique_ptr<ReadBudget>> m_Budgets;
    std::map<std::string, Data> m_Files;           ///< external data by location
    std::map<std::string, Data> m_Mapped;          ///< files by path: several locations may lead to one of them
    std::unordered_map<const void*, Value> m_Read; ///< by message: graphs and functions may be read many times
};

} // namespace tenon::onnx
