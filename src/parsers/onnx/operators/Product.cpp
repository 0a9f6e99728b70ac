// SPDX-License-Identifier: Apache-2.0
// Rows of matrix products.
#include "parsers/onnx/Rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace tenon::onnx::rows
{

Value MultiplyAsNumpy(const Operator& op, GraphBuilder& graph, const Value& a, const Value& b,
                      const MatrixProduct& multiply)
{
    if (a.Rank() == 0 || b.Rank() == 0)
    {
        op.Fail("an operand has no dimensions");
    }
    const bool isRow = a.Rank() == 1;
    const bool isColumn = b.Rank() == 1;
    const Value product = multiply(isRow ? graph.Unsqueeze(a, {0}) : a, isColumn ? graph.Unsqueeze(b, {1}) : b);
    const unsigned int rank = product.Rank();
    std::vector<unsigned int> dropped;
    if (isRow)
    {
        dropped.push_back(rank - 2);
    }
    if (isColumn)
    {
        dropped.push_back(rank - 1);
    }
    return graph.Squeeze(product, dropped);
}

void AddMatMul(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, MultiplyAsNumpy(op, graph, op.Input(0), op.Input(1),
                                    [&](const Value& a, const Value& b) { return graph.MatMul(a, b); }));
}

/// alpha * A' B' + beta * C.
void AddGemm(Operator& op, GraphBuilder& graph)
{
    const Value& a = op.Input(0);
    const Value& b = op.Input(1);
    const bool transA = op.Int64("transA", 0) != 0;
    const bool transB = op.Int64("transB", 0) != 0;
    const auto alpha = static_cast<double>(op.Float("alpha", 1.0f));
    const auto beta = static_cast<double>(op.Float("beta", 1.0f));
    if (a.Rank() != 2 || b.Rank() != 2)
    {
        op.Fail(fmt::format("shapes {} and {} are no matrices", a.Shape().ToString(), b.Shape().ToString()));
    }
    const Value c = beta != 0.0 ? op.FindInput(2) : Value();
    const int64_t columns = b.Size(transB ? 0 : 1);
    const bool isBias =
        c && beta == 1.0 && c.IsConstant() && columns != OpenSize &&
        ((c.Rank() == 1 && c.Size(0) == columns) || (c.Rank() == 2 && c.Size(0) == 1 && c.Size(1) == columns));
    const bool hasElements = b.IsConstant() && b.Shape().GetNumElements64() != 0; // else the layer leaves out the bias
    if (hasElements && alpha == 1.0 && (!c || isBias) && a.Type() == DataType::Float32)
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_TransposeWeightMatrix = transB;
        descriptor.m_BiasEnabled = isBias;
        const Value data = transA ? graph.Transpose(a, {1, 0}) : a;
        std::vector<Value> inputs = {data, b};
        if (isBias)
        {
            inputs.push_back(c.Rank() == 2 ? graph.Reshape(c, {columns}) : c);
        }
        op.SetOutput(0, graph.AddLayer(LayerType::FullyConnected, descriptor, inputs, a.Type(),
                                       ToShape({data.Size(0), columns})));
        return;
    }
    Value result = graph.MatMul(a, b, transA, transB);
    if (alpha != 1.0)
    {
        result = graph.WithNumber(BinaryOperation::Mul, result, alpha);
    }
    if (c)
    {
        result = graph.Add(result, beta != 1.0 ? graph.WithNumber(BinaryOperation::Mul, c, beta) : c);
    }
    op.SetOutput(0, result);
}

// Einsum: each operand is brought to the order of the letters, letters that stand twice are made one by their diagonal,
// and operands are multiplied one after the other: a product of matrices where letters are summed, else of elements.
namespace
{

using Letters = std::string;

struct Term
{
    Value m_Value;
    Letters m_Letters; ///< one a dimension
};

constexpr char FirstEllipsis = '\1'; ///< stands for the dimensions of an ellipsis, with the ones after it

std::string WithoutSpaces(std::string text)
{
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return text;
}

/// The letters of a term, with one for each dimension that the ellipsis stands for, counted from the last one.
Letters Spell(const Operator& op, const std::string& term, unsigned int rank)
{
    const auto isAllowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'; };
    if (!std::all_of(term.begin(), term.end(), isAllowed))
    {
        op.Fail(fmt::format("term '{}' of the equation has characters other than letters and an ellipsis", term));
    }
    const size_t dots = term.find("...");
    Letters letters = term;
    if (dots != std::string::npos)
    {
        const size_t named = term.size() - 3;
        if (named > rank)
        {
            op.Fail(fmt::format("term '{}' of the equation does not fit {} dimensions", term, rank));
        }
        std::string ellipsis;
        for (size_t i = rank - named; i-- > 0;)
        {
            ellipsis += static_cast<char>(FirstEllipsis + static_cast<char>(i));
        }
        letters.replace(dots, 3, ellipsis);
    }
    if (letters.size() != rank || letters.find('.') != std::string::npos)
    {
        op.Fail(fmt::format("term '{}' of the equation does not fit {} dimensions", term, rank));
    }
    return letters;
}

/// Makes dimensions of one letter one: the elements whose indices in all of them are the same.
Term TakeDiagonals(Operator& op, GraphBuilder& graph, Term term)
{
    for (size_t i = 0; i < term.m_Letters.size(); ++i)
    {
        const size_t other = term.m_Letters.find(term.m_Letters[i], i + 1);
        if (other == std::string::npos)
        {
            continue;
        }
        const auto rank = static_cast<unsigned int>(term.m_Letters.size());
        const int64_t size = term.m_Value.Size(static_cast<unsigned int>(i));
        constexpr int64_t max = std::numeric_limits<int32_t>::max(); // the square of which is a number
        if (size == OpenSize || size != term.m_Value.Size(static_cast<unsigned int>(other)) || size > max)
        {
            op.Refuse("a letter that stands twice in a term wants dimensions of one known size below 2^31");
        }
        // [..., n, ..., n] with both at the end, flat: every (n + 1)th element.
        std::vector<unsigned int> order;
        for (unsigned int d = 0; d < rank; ++d)
        {
            if (d != i && d != other)
            {
                order.push_back(d);
            }
        }
        order.push_back(static_cast<unsigned int>(i));
        order.push_back(static_cast<unsigned int>(other));
        const Value moved = graph.Transpose(term.m_Value, order);
        std::vector<int64_t> sizes = moved.Sizes();
        sizes.pop_back();
        sizes.back() = size * size;
        const Value flat = graph.Reshape(moved, sizes);
        term.m_Value = graph.Slice(flat, {0}, {size * size}, {rank - 2}, {size + 1});
        Letters letters;
        for (const unsigned int d : order)
        {
            letters += term.m_Letters[d];
        }
        letters.pop_back();
        term.m_Letters = letters;
        return TakeDiagonals(op, graph, std::move(term)); // others
    }
    return term;
}

/// Sums over the letters that `keeps` says no to.
template <typename Keeps>
Term SumOver(GraphBuilder& graph, Term term, Keeps keeps)
{
    std::vector<unsigned int> axes;
    Letters left;
    for (unsigned int i = 0; i < term.m_Letters.size(); ++i)
    {
        if (keeps(term.m_Letters[i]))
        {
            left += term.m_Letters[i];
        }
        else
        {
            axes.push_back(i);
        }
    }
    if (!axes.empty())
    {
        term.m_Value = graph.Reduce(ReduceOperation::Sum, term.m_Value, axes, false);
    }
    term.m_Letters = left;
    return term;
}

/// The dimensions in the order of `letters`; those that the term lacks get size 1.
Value Arrange(GraphBuilder& graph, const Term& term, const Letters& letters)
{
    std::vector<unsigned int> order;
    std::vector<unsigned int> added;
    for (unsigned int i = 0; i < letters.size(); ++i)
    {
        const size_t place = term.m_Letters.find(letters[i]);
        place == std::string::npos ? added.push_back(i) : order.push_back(static_cast<unsigned int>(place));
    }
    const Value moved = graph.Transpose(term.m_Value, order);
    return added.empty() ? moved : graph.Unsqueeze(moved, added);
}

bool Has(const Letters& letters, char letter)
{
    return letters.find(letter) != std::string::npos;
}

/// Both operands multiplied and summed over the letters that neither `later` terms nor the output have.
Term Multiply(GraphBuilder& graph, const Term& left, const Term& right, const Letters& later)
{
    Letters batch;
    Letters rows;
    Letters columns;
    Letters summed;
    for (const char letter : left.m_Letters)
    {
        const bool inBoth = Has(right.m_Letters, letter);
        (!inBoth ? rows : Has(later, letter) ? batch : summed) += letter;
    }
    for (const char letter : right.m_Letters)
    {
        if (!Has(left.m_Letters, letter))
        {
            columns += letter;
        }
    }
    if (summed.empty())
    {
        const Letters all = batch + rows + columns;
        return {graph.Multiply(Arrange(graph, left, all), Arrange(graph, right, all)), all};
    }
    // [batch, rows, summed] by [batch, summed, columns], each group of letters as one dimension.
    const auto group = [&](const Term& term, const Letters& first, const Letters& second)
    {
        const Value arranged = Arrange(graph, term, batch + first + second);
        const Value shape = graph.ShapeOf(arranged);
        const auto b = static_cast<int64_t>(batch.size());
        const auto f = static_cast<int64_t>(first.size());
        const auto s = static_cast<int64_t>(second.size());
        const auto product = [&](int64_t from, int64_t count)
        {
            return count == 0
                       ? GraphBuilder::Ints({1})
                       : graph.Reduce(ReduceOperation::Prod, graph.Slice(shape, 0, from, from + count), {0}, true);
        };
        return graph.ReshapeTo(arranged,
                               graph.Concat({graph.Slice(shape, 0, 0, b), product(b, f), product(b + f, s)}, 0));
    };
    const auto sizesOf = [&](const Term& term, const Letters& letters)
    {
        std::vector<Value> sizes;
        const Value shape = graph.ShapeOf(term.m_Value);
        for (const char letter : letters)
        {
            const auto place = static_cast<int64_t>(term.m_Letters.find(letter));
            sizes.push_back(graph.Slice(shape, 0, place, place + 1));
        }
        return sizes;
    };
    const Value product = graph.MatMul(group(left, rows, summed), group(right, summed, columns));
    // A size of 1 broadcasts along a letter of the batch: the product has the larger ones.
    std::vector<Value> sizes;
    const Value shape = graph.ShapeOf(product);
    for (size_t i = 0; i < batch.size(); ++i)
    {
        const auto place = static_cast<int64_t>(i);
        sizes.push_back(graph.Slice(shape, 0, place, place + 1));
    }
    for (Value& size : sizesOf(left, rows))
    {
        sizes.push_back(std::move(size));
    }
    for (Value& size : sizesOf(right, columns))
    {
        sizes.push_back(std::move(size));
    }
    const Value result = sizes.empty() ? graph.Reshape(product, {}) : graph.ReshapeTo(product, graph.Concat(sizes, 0));
    return {result, batch + rows + columns};
}

} // namespace

void AddEinsum(Operator& op, GraphBuilder& graph)
{
    const std::string equation = WithoutSpaces(op.Text("equation"));
    const size_t arrow = equation.find("->");
    std::vector<std::string> terms(1);
    for (const char character : equation.substr(0, arrow))
    {
        character == ',' ? void(terms.emplace_back()) : void(terms.back() += character);
    }
    if (terms.size() != op.NumInputs())
    {
        op.Fail(fmt::format("the equation '{}' has {} terms for {} inputs", equation, terms.size(), op.NumInputs()));
    }
    std::vector<Term> operands;
    std::map<char, int> counts;
    size_t ellipsis = 0;
    for (size_t i = 0; i < terms.size(); ++i)
    {
        const Letters letters = Spell(op, terms[i], op.Input(i).Rank());
        for (const char letter : letters)
        {
            ++counts[letter];
            ellipsis = letter <= static_cast<char>(MaxNumOfTensorDimensions)
                           ? std::max(ellipsis, static_cast<size_t>(letter - FirstEllipsis) + 1)
                           : ellipsis;
        }
        operands.push_back(TakeDiagonals(op, graph, {op.Input(i), letters}));
    }
    Letters output;
    if (arrow != std::string::npos)
    {
        const std::string term = equation.substr(arrow + 2);
        const size_t dots = term.find("...");
        output = Spell(op, term,
                       static_cast<unsigned int>(dots == std::string::npos ? term.size() : term.size() - 3 + ellipsis));
    }
    else
    {
        // Without an arrow: the ellipsis, then the letters that stand once, in order.
        for (size_t i = ellipsis; i-- > 0;)
        {
            output += static_cast<char>(FirstEllipsis + static_cast<char>(i));
        }
        for (const auto& [letter, count] : counts)
        {
            if (count == 1 && letter > static_cast<char>(MaxNumOfTensorDimensions))
            {
                output += letter;
            }
        }
    }
    for (const char letter : output)
    {
        if (counts.count(letter) == 0 || std::count(output.begin(), output.end(), letter) != 1)
        {
            op.Fail(
                fmt::format("the output of the equation '{}' has a letter twice, or one that no term has", equation));
        }
    }
    const auto laterLetters = [&](size_t from)
    {
        Letters later = output;
        for (size_t i = from; i < operands.size(); ++i)
        {
            later += operands[i].m_Letters;
        }
        return later;
    };
    for (size_t i = 0; i < operands.size(); ++i)
    {
        Letters others = output;
        for (size_t k = 0; k < operands.size(); ++k)
        {
            others += k != i ? operands[k].m_Letters : Letters();
        }
        operands[i] = SumOver(graph, operands[i], [&](char letter) { return Has(others, letter); });
    }
    Term result = operands.front();
    for (size_t i = 1; i < operands.size(); ++i)
    {
        result = Multiply(graph, result, operands[i], laterLetters(i + 1));
    }
    result = SumOver(graph, result, [&](char letter) { return Has(output, letter); });
    op.SetOutput(0, Arrange(graph, result, output));
}

} // namespace tenon::onnx::rows
