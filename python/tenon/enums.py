# SPDX-License-Identifier: Apache-2.0
# Written by scripts/python_enums.py; do not edit.
"""Enumerations for attributes of layers: ``{"Operation": tenon.enums.UnaryOperation.Neg}``."""

from enum import IntEnum


class DataType(IntEnum):
    """tenon::DataType"""

    Float16 = 0
    Float32 = 1
    QAsymmU8 = 2
    Signed32 = 3
    Boolean = 4
    QSymmS16 = 5
    QSymmS8 = 6
    QAsymmS8 = 7
    BFloat16 = 8
    Signed64 = 9
    Float64 = 10
    Signed8 = 11
    Signed16 = 12
    Unsigned8 = 13
    Unsigned16 = 14
    Unsigned32 = 15
    Unsigned64 = 16
    QSymmS4 = 17
    Complex64 = 18
    Complex128 = 19


class DataLayout(IntEnum):
    """tenon::DataLayout"""

    NCHW = 1
    NHWC = 2
    NDHWC = 3
    NCDHW = 4


class ActivationFunction(IntEnum):
    """tenon::ActivationFunction"""

    Sigmoid = 0
    TanH = 1
    Linear = 2
    ReLu = 3
    BoundedReLu = 4
    SoftReLu = 5
    LeakyReLu = 6
    Abs = 7
    Sqrt = 8
    Square = 9
    Elu = 10
    HardSwish = 11
    Gelu = 12


class ComplexComponent(IntEnum):
    """tenon::ComplexComponent"""

    Real = 0
    Imaginary = 1
    Magnitude = 2


class ArgMinMaxFunction(IntEnum):
    """tenon::ArgMinMaxFunction"""

    Min = 0
    Max = 1


class ComparisonOperation(IntEnum):
    """tenon::ComparisonOperation"""

    Equal = 0
    Greater = 1
    GreaterOrEqual = 2
    Less = 3
    LessOrEqual = 4
    NotEqual = 5


class LogicalBinaryOperation(IntEnum):
    """tenon::LogicalBinaryOperation"""

    LogicalAnd = 0
    LogicalOr = 1


class UnaryOperation(IntEnum):
    """tenon::UnaryOperation"""

    Abs = 0
    Exp = 1
    Sqrt = 2
    Rsqrt = 3
    Neg = 4
    LogicalNot = 5
    Log = 6
    Sin = 7
    Ceil = 8
    Cos = 9
    Round = 10
    Sign = 11
    Erf = 12


class BinaryOperation(IntEnum):
    """tenon::BinaryOperation"""

    Add = 0
    Div = 1
    Maximum = 2
    Minimum = 3
    Mul = 4
    Sub = 5
    SqDiff = 6
    Power = 7
    FloorDiv = 8
    FloorMod = 9
    Atan2 = 10
    BitwiseAnd = 11
    BitwiseOr = 12
    BitwiseXor = 13
    ShiftLeft = 14
    ShiftRight = 15


class PoolingAlgorithm(IntEnum):
    """tenon::PoolingAlgorithm"""

    Max = 0
    Average = 1
    L2 = 2


class ReduceOperation(IntEnum):
    """tenon::ReduceOperation"""

    Sum = 0
    Max = 1
    Mean = 2
    Min = 3
    Prod = 4
    All = 5
    Any = 6


class ResizeMethod(IntEnum):
    """tenon::ResizeMethod"""

    Bilinear = 0
    NearestNeighbor = 1


class PaddingMethod(IntEnum):
    """tenon::PaddingMethod"""

    IgnoreValue = 0
    Exclude = 1


class PaddingScheme(IntEnum):
    """tenon::PaddingScheme"""

    Explicit = 0
    Same = 1
    Valid = 2


class PaddingMode(IntEnum):
    """tenon::PaddingMode"""

    Constant = 0
    Reflect = 1
    Symmetric = 2


class NormalizationAlgorithmChannel(IntEnum):
    """tenon::NormalizationAlgorithmChannel"""

    Across = 0
    Within = 1


class NormalizationAlgorithmMethod(IntEnum):
    """tenon::NormalizationAlgorithmMethod"""

    LocalBrightness = 0
    LocalContrast = 1


class OutputShapeRounding(IntEnum):
    """tenon::OutputShapeRounding"""

    Floor = 0
    Ceiling = 1


class ScatterNdFunction(IntEnum):
    """tenon::ScatterNdFunction"""

    Update = 0
    Add = 1
    Sub = 2
    Max = 3
    Min = 4
    Mul = 5


class ReduceWindowFunction(IntEnum):
    """tenon::ReduceWindowFunction"""

    Add = 0
    Mul = 1
    Min = 2
    Max = 3
    All = 4
    Any = 5


class RandomDistribution(IntEnum):
    """tenon::RandomDistribution"""

    Uniform = 0
    StandardNormal = 1


class RngAlgorithm(IntEnum):
    """tenon::RngAlgorithm"""

    Default = 0
    Philox = 1
    ThreeFry = 2


class EmbeddingCombiner(IntEnum):
    """tenon::EmbeddingCombiner"""

    Sum = 0
    Mean = 1
    SqrtN = 2


class FusedKernelType(IntEnum):
    """tenon::FusedKernelType"""

    AddMulAdd = 0
