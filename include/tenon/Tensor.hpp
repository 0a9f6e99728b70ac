// SPDX-License-Identifier: Apache-2.0
// TensorShape, TensorInfo, Tensor and ConstTensor: the descriptions of data that every layer, parser and workload uses.
// Rank, dimensions, element and byte counts are checked here, once; no other code does size arithmetic of its own.
#pragma once

#include <tenon/Optional.hpp>
#include <tenon/Span.hpp>
#include <tenon/Types.hpp>

#include <array>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

/// The dimensions of a tensor. Each may be unknown ("not specified"), and so may the rank. Outermost dimension first.
class TENON_API TensorShape
{
public:
    /// A shape of unknown rank, but GetNumDimensions() and GetNumElements() give 0, as in Arm NN.
    TensorShape() = default;

    /// Scalar, or unknown rank. Specified means rank 1 of one unknown dimension, as in Arm NN.
    explicit TensorShape(Dimensionality dimensionality);

    /// `numDimensions` dimensions, all unknown unless `initDimensionsSpecificity`, then all zero.
    explicit TensorShape(unsigned int numDimensions, bool initDimensionsSpecificity = true);

    /// Throws InvalidArgumentException if the rank is above MaxNumOfTensorDimensions.
    TensorShape(unsigned int numDimensions, const unsigned int* dimensionSizes);
    TensorShape(unsigned int numDimensions, const unsigned int* dimensionSizes, const bool* dimensionsSpecificity);
    TensorShape(std::initializer_list<unsigned int> dimensionSizes);
    TensorShape(std::initializer_list<unsigned int> dimensionSizes, std::initializer_list<bool> dimensionsSpecificity);

    /// The size of dimension i. Throws InvalidArgumentException past the rank or when the dimension is unknown.
    unsigned int operator[](unsigned int i) const
    {
        if (i >= m_NumDimensions || ((m_Known >> i) & 1U) == 0)
        {
            ThrowBadDimension(i);
        }
        return m_Dimensions[i];
    }
    /// The same, to be changed. SetDimensionSize() sets a size that is unknown.
    unsigned int& operator[](unsigned int i)
    {
        if (i >= m_NumDimensions || ((m_Known >> i) & 1U) == 0)
        {
            ThrowBadDimension(i);
        }
        return m_Dimensions[i];
    }

    /// Sets size i, which becomes known.
    void SetDimensionSize(unsigned int i, unsigned int dimensionSize);
    /// Makes dimension i unknown.
    void SetDimensionUnknown(unsigned int i);
    /// Gives an unspecified shape a rank; its dimensions are unknown unless `initDimensionsSpecificity`, then zero.
    void SetNumDimensions(unsigned int numDimensions, bool initDimensionsSpecificity = false);

    /// The rank; 0 for a scalar and for a default-made shape. For an unknown rank throws InvalidArgumentException.
    unsigned int GetNumDimensions() const
    {
        if (m_Dimensionality == Dimensionality::NotSpecified && !m_IsDefault)
        {
            ThrowUnknownRank();
        }
        return m_NumDimensions;
    }
    /// The product of all sizes; 1 for a scalar, 0 if any size is 0, and 0 for a default-made shape.
    /// Throws InvalidArgumentException when a size or the rank is unknown or the product overflows 32 bits.
    unsigned int GetNumElements() const;
    /// The same in 64 bits.
    uint64_t GetNumElements64() const;

    Dimensionality GetDimensionality() const { return m_Dimensionality; }
    bool GetDimensionSpecificity(unsigned int i) const;
    bool IsAtLeastOneDimensionSpecified() const;
    /// Whether rank and all sizes are known.
    bool AreAllDimensionsSpecified() const
    {
        return m_Dimensionality != Dimensionality::NotSpecified && m_Known == AllKnown(m_NumDimensions);
    }
    bool IsScalar() const { return m_Dimensionality == Dimensionality::Scalar; }

    /// "[1,224,224,3]", "[1,?,3]", "[]" for a scalar, "[unknown rank]".
    std::string ToString() const;

    /// Equal rank, sizes and unknown places. A scalar equals no rank-1 shape. All shapes of unknown rank are equal.
    friend bool operator==(const TensorShape& a, const TensorShape& b)
    {
        return a.m_Dimensionality == b.m_Dimensionality && a.m_NumDimensions == b.m_NumDimensions &&
               a.m_Known == b.m_Known && a.m_Dimensions == b.m_Dimensions;
    }
    friend bool operator!=(const TensorShape& a, const TensorShape& b) { return !(a == b); }

private:
    static constexpr uint8_t AllKnown(unsigned int rank) { return static_cast<uint8_t>((1U << rank) - 1U); }
    void CheckDimensionIndex(unsigned int i) const;
    [[noreturn]] void ThrowBadDimension(unsigned int i) const;
    [[noreturn]] static void ThrowUnknownRank();

    // Unknown sizes and sizes past the rank are kept at zero, so that shapes compare member by member.
    std::array<unsigned int, MaxNumOfTensorDimensions> m_Dimensions{};
    uint8_t m_Known = 0; ///< bit i: size i is known
    uint8_t m_NumDimensions = 0;
    Dimensionality m_Dimensionality = Dimensionality::NotSpecified;
    bool m_IsDefault = true; ///< made by the default constructor
};

/// Shape, element type and quantization of a tensor. Cheap to copy: per-axis parameters are shared.
///
/// Constructors and setters take any scales and zero points, for an info is made bit by bit. Optimize() refuses, with
/// an UnimplementedException that names tensor and reason, a scale that is not positive and finite, and scales that do
/// not fit the dimension, wherever a layer computes with them. Layers that only move values pass them on. A zero point
/// that the type cannot hold is no error where the layer can be computed through Float32 (docs/numerics.md).
class TENON_API TensorInfo
{
public:
    /// Float32 without a shape yet (see TensorShape()); of 0 elements and bytes.
    TensorInfo() = default;

    TensorInfo(const TensorShape& shape, DataType dataType, float quantizationScale = 0.0f,
               int32_t quantizationOffset = 0, bool isConstant = false);
    TensorInfo(unsigned int numDimensions, const unsigned int* dimensionSizes, DataType dataType,
               float quantizationScale = 0.0f, int32_t quantizationOffset = 0, bool isConstant = false);
    /// One scale per slice of dimension `quantizationDim`, zero points all 0.
    TensorInfo(const TensorShape& shape, DataType dataType, const std::vector<float>& quantizationScales,
               unsigned int quantizationDim, bool isConstant = false);
    TensorInfo(unsigned int numDimensions, const unsigned int* dimensionSizes, DataType dataType,
               const std::vector<float>& quantizationScales, unsigned int quantizationDim, bool isConstant = false);

    const TensorShape& GetShape() const { return m_Shape; }
    TensorShape& GetShape() { return m_Shape; }
    void SetShape(const TensorShape& shape) { m_Shape = shape; }
    unsigned int GetNumDimensions() const { return m_Shape.GetNumDimensions(); }
    unsigned int GetNumElements() const { return m_Shape.GetNumElements(); }

    DataType GetDataType() const { return m_DataType; }
    void SetDataType(DataType type) { m_DataType = type; }

    /// Bytes of the whole tensor; 4-bit elements count half a byte, rounded up at the end.
    /// Throws InvalidArgumentException when the shape is not fully known or the count overflows size_t.
    size_t GetNumBytes() const;

    bool HasMultipleQuantizationScales() const { return m_PerAxis != nullptr && m_PerAxis->m_Scales.size() > 1; }
    bool HasPerAxisQuantization() const { return m_PerAxis != nullptr; }
    /// Whether there is a scale for each block of elements, see SetQuantizationBlockSize().
    bool HasBlockwiseQuantization() const { return m_PerAxis != nullptr && m_PerAxis->m_BlockSize != 0; }
    /// All scales: one per slice of the quantization dimension, or one per block, or one, or none.
    std::vector<float> GetQuantizationScales() const;
    /// The same without a copy, until the info is changed or destroyed.
    Span<const float> ViewQuantizationScales() const
    {
        return m_PerAxis != nullptr ? Span<const float>(m_PerAxis->m_Scales)
                                    : Span<const float>(&m_Scale, m_Scale != 0.0f ? 1 : 0);
    }
    void SetQuantizationScales(const std::vector<float>& scales);
    /// The only scale; 0 when there is none. Throws InvalidArgumentException for several.
    float GetQuantizationScale() const;
    void SetQuantizationScale(float scale);
    /// The zero point; 0 when there is none. Throws InvalidArgumentException for several that differ.
    int32_t GetQuantizationOffset() const;
    void SetQuantizationOffset(int32_t offset);
    /// One zero point per scale (Arm NN has one for all).
    std::vector<int32_t> GetQuantizationOffsets() const;
    /// Whether a zero point is not 0.
    bool HasQuantizationOffsets() const;
    void SetQuantizationOffsets(const std::vector<int32_t>& offsets);
    Optional<unsigned int> GetQuantizationDim() const;
    /// Without a dimension there are no blocks either.
    void SetQuantizationDim(const Optional<unsigned int>& quantizationDim);
    /// Elements of a block; 0 where the quantization is not blockwise.
    unsigned int GetQuantizationBlockSize() const { return m_PerAxis != nullptr ? m_PerAxis->m_BlockSize : 0; }
    /// Blockwise quantization: this many neighbouring elements along the quantization dimension share a scale and a
    /// zero point. The scales are in the order of the elements of a tensor of which each stands for a block: a tensor
    /// [N,K] with blocks along dimension 1 has N * K / size scales, those of its first row first. 0: one scale per
    /// slice. FullyConnected, EmbeddingLookup and Dequantize take constants with blocks; for other layers of floats the
    /// optimizer dequantizes them. Throws InvalidArgumentException for blocks where there is no quantization dimension.
    void SetQuantizationBlockSize(unsigned int size);
    /// Whether the type is one of the quantized ones (with or without a scale).
    bool IsQuantized() const;
    /// Whether there is at least one scale.
    bool HasQuantization() const { return (m_PerAxis != nullptr && !m_PerAxis->m_Scales.empty()) || m_Scale != 0.0f; }
    /// Takes over scales, zero points, dimension and blocks of another info.
    void CopyQuantization(const TensorInfo& other);

    /// Whether values move between the two without change: same type, and same quantization if quantized.
    bool IsTypeSpaceMatch(const TensorInfo& other) const;

    bool IsConstant() const { return m_IsConstant; }
    void SetConstant(bool isConstant = true) { m_IsConstant = isConstant; }

    /// "QAsymmU8 [1,224,224,3] scale 0.0078125 zero point 128"
    std::string ToString() const;

    friend bool operator==(const TensorInfo& a, const TensorInfo& b)
    {
        return a.m_Shape == b.m_Shape && a.m_DataType == b.m_DataType && a.m_IsConstant == b.m_IsConstant &&
               a.IsSameQuantization(b);
    }
    friend bool operator!=(const TensorInfo& a, const TensorInfo& b) { return !(a == b); }

private:
    struct PerAxis
    {
        std::vector<float> m_Scales;
        std::vector<int32_t> m_Offsets; ///< empty: all zero; else as many as scales
        unsigned int m_Dim = 0;
        bool m_HasDim = false;
        unsigned int m_BlockSize = 0; ///< 0: not blockwise
    };
    bool IsSameQuantization(const TensorInfo& other) const;
    PerAxis& EditPerAxis();

    TensorShape m_Shape;
    DataType m_DataType = DataType::Float32;
    bool m_IsConstant = false;
    float m_Scale = 0.0f; ///< of per-tensor quantization
    int32_t m_Offset = 0;
    std::shared_ptr<const PerAxis> m_PerAxis; ///< immutable once shared
};

/// Name of a type as in the enum: "QAsymmU8".
TENON_API const char* GetDataTypeName(DataType type);
/// Bits of one element: 4 for QSymmS4, else a multiple of 8.
TENON_API unsigned int GetDataTypeBits(DataType type);
/// Bytes of one element. Throws InvalidArgumentException for 4-bit types, which have no whole byte.
TENON_API unsigned int GetDataTypeSize(DataType type);
/// Whether the type is one that carries a scale.
TENON_API bool IsQuantizedType(DataType type);
/// Name of a layer type as in the enum: "Convolution2d".
TENON_API const char* GetLayerTypeAsCString(LayerType type);

/// A tensor's info and its memory, which somebody else owns.
template <typename MemoryType>
class BaseTensor
{
public:
    BaseTensor() = default;
    BaseTensor(const TensorInfo& info, MemoryType memory) : m_Info(info), m_MemoryArea(memory) {}

    const TensorInfo& GetInfo() const { return m_Info; }
    TensorInfo& GetInfo() { return m_Info; }
    const TensorShape& GetShape() const { return m_Info.GetShape(); }
    TensorShape& GetShape() { return m_Info.GetShape(); }
    DataType GetDataType() const { return m_Info.GetDataType(); }
    unsigned int GetNumDimensions() const { return m_Info.GetNumDimensions(); }
    size_t GetNumBytes() const { return m_Info.GetNumBytes(); }
    unsigned int GetNumElements() const { return m_Info.GetNumElements(); }
    MemoryType GetMemoryArea() const { return m_MemoryArea; }

protected:
    TensorInfo m_Info;
    MemoryType m_MemoryArea = nullptr;
};

/// A tensor to write to.
class Tensor : public BaseTensor<void*>
{
public:
    using BaseTensor<void*>::BaseTensor;
};

/// A tensor to read.
class TENON_API ConstTensor : public BaseTensor<const void*>
{
public:
    ConstTensor() { m_Info.SetConstant(); }
    /// Throws InvalidArgumentException unless info.IsConstant(), as in Arm NN.
    ConstTensor(const TensorInfo& info, const void* memory);
    /// The values of a Tensor.
    ConstTensor(const Tensor& other); // NOLINT: implicit, as Arm NN's

    /// Elements of a container, which must have as many bytes as the info says (InvalidArgumentException).
    template <template <typename, typename...> class Container, typename T, typename... Args>
    ConstTensor(const TensorInfo& info, const Container<T, Args...>& container)
        : ConstTensor(info, static_cast<const void*>(container.data()))
    {
        CheckContainer(container.size() * sizeof(T));
    }

private:
    void CheckContainer(size_t bytes) const;
};

using InputTensors = std::vector<std::pair<LayerBindingId, ConstTensor>>;
using OutputTensors = std::vector<std::pair<LayerBindingId, Tensor>>;
/// A parser's answer about an input or output: the id to bind by, and the info of the tensor that the model expects.
using BindingPointInfo = std::pair<LayerBindingId, TensorInfo>;

/// A tensor in memory, as a backend or its owner sees it: <tenon/TensorHandle.hpp> has those in host memory. Backends
/// written for Arm NN derive their own.
class TENON_API ITensorHandle
{
public:
    virtual ~ITensorHandle();

    /// The lifetime of the tensor begins, for a memory manager that plans it.
    virtual void Manage() = 0;
    /// The lifetime of the tensor ends; one without a memory manager gets its memory here.
    virtual void Allocate() = 0;
    /// The tensor of which this one is a part; null where it is none.
    virtual ITensorHandle* GetParent() const = 0;

    /// Host memory of the tensor; valid until Unmap. `blocking` asks to wait until nothing writes or reads the memory
    /// any more.
    virtual const void* Map(bool blocking = true) const = 0;
    virtual void Unmap() const = 0;
    void* Map(bool blocking = true)
    {
        return const_cast<void*>(static_cast<const ITensorHandle*>(this)->Map(blocking));
    }
    void Unmap() { static_cast<const ITensorHandle*>(this)->Unmap(); }

    /// Bytes from one index to the next, of each dimension.
    virtual TensorShape GetStrides() const = 0;
    virtual TensorShape GetShape() const = 0;

    /// Copies all bytes to `memory`, or from it. For tests.
    virtual void CopyOutTo(void* memory) const = 0;
    virtual void CopyInFrom(const void* memory) = 0;

    /// MemorySource bits of the memory that Import takes; 0: none.
    virtual unsigned int GetImportFlags() const { return 0; }
    /// Uses `memory` in place of its own. False where it cannot.
    virtual bool Import(void* /*memory*/, MemorySource /*source*/) { return false; }
    /// Whether Import would take it.
    virtual bool CanBeImported(void* /*memory*/, MemorySource /*source*/) { return false; }
    /// Ends the use of imported memory.
    virtual void Unimport() {}

    /// A handle of the same memory with another info; null where there is none.
    virtual std::shared_ptr<ITensorHandle> DecorateTensorHandle(const TensorInfo& /*tensorInfo*/) { return nullptr; }
};

} // namespace tenon
