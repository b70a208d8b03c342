#include "compiler/reader/types.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/dialect/StablehloDialect.h"

namespace nocturne::compiler {

namespace {

// Type aliases let a file nest types without any bracket.
constexpr unsigned kMaxTypeDepth = 256;

std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

ElementKind kindOf(mlir::Type type) {
  if (mlir::isa<mlir::IndexType>(type))
    return ElementKind::Index;
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type))
    return complex.getElementType().isF64()   ? ElementKind::Complex128
           : complex.getElementType().isF32() ? ElementKind::Complex64
                                              : ElementKind::None;
  if (!mlir::isa<mlir::IntegerType, mlir::FloatType>(type))
    return ElementKind::None;
  // Signed integers are what signless ones mean in StableHLO.
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type); integer && integer.isSigned())
    type = mlir::IntegerType::get(type.getContext(), integer.getWidth());
  return elementKindFromName(textOf(type)).value_or(ElementKind::None);
}

// The bounds of dynamic extents, kDynamic where there is none.
llvm::ArrayRef<int64_t> boundsOf(mlir::Attribute encoding) {
  if (auto extensions = mlir::dyn_cast_or_null<nocturne::stablehlo::TypeExtensionsAttr>(encoding))
    return extensions.getBounds();
  return {};
}

TensorType tensorOf(mlir::ShapedType shaped, FlatType& out) {
  TensorType tensor{readElementType(shaped.getElementType()), {}, shaped.hasRank()};
  if (!tensor.ranked) {
    out.unknownExtent = true;
    return tensor;
  }
  llvm::ArrayRef<int64_t> bounds;
  if (auto ranked = mlir::dyn_cast<mlir::RankedTensorType>(shaped))
    bounds = boundsOf(ranked.getEncoding());
  tensor.dims.assign(shaped.getShape().begin(), shaped.getShape().end());
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (!mlir::ShapedType::isDynamic(tensor.dims[i]))
      continue;
    bool bounded = i < bounds.size() && !mlir::ShapedType::isDynamic(bounds[i]);
    tensor.dims[i] = bounded ? bounds[i] : kDynamic;
    (bounded ? out.usesBound : out.unknownExtent) = true;
  }
  return tensor;
}

// The top-level items of `<a, b, ...>` in the text of a type, each with its brackets.
llvm::SmallVector<llvm::StringRef> argumentsOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> items;
  size_t open = text.find('<');
  if (open == llvm::StringRef::npos || !text.ends_with(">"))
    return items;
  text = text.substr(open + 1).drop_back();
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (c == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if (llvm::StringRef("<([{").contains(c))
      ++depth;
    else if (llvm::StringRef(")]}").contains(c) || (c == '>' && text[i - (i > 0)] != '-'))
      --depth;
    else if (c == ',' && depth == 0) {
      items.push_back(text.substr(start, i - start).trim());
      start = i + 1;
    }
  }
  return items;
}

} // namespace

ElementType readElementType(mlir::Type element) {
  if (auto quantized = mlir::dyn_cast<mlir::quant::QuantizedType>(element)) {
    mlir::Type storage = quantized.getStorageType();
    // Quantized storage is written signless, with a flag for its sign.
    if (auto integer = mlir::dyn_cast<mlir::IntegerType>(storage); integer && !quantized.isSigned())
      storage = mlir::IntegerType::get(element.getContext(), integer.getWidth(),
                                       mlir::IntegerType::Unsigned);
    mlir::Type expressed = quantized.getExpressedType();
    return {kindOf(storage), expressed ? kindOf(expressed) : ElementKind::F32};
  }
  return {kindOf(element), ElementKind::None};
}

// Parts go through the table too: aliases can make a type whose tree is far larger than its graph.
bool TypeTable::append(mlir::Type part, FlatType& out, unsigned depth) {
  const FlatType* inner = depth < kMaxTypeDepth ? of(part, depth + 1) : nullptr;
  if (!inner || out.parts.size() + inner->parts.size() > kMaxTupleParts)
    return false;
  out.parts.append(inner->parts.begin(), inner->parts.end());
  out.usesBound |= inner->usesBound;
  out.unknownExtent |= inner->unknownExtent;
  return true;
}

bool TypeTable::flatten(mlir::Type type, FlatType& out, unsigned depth) {
  if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type))
    return llvm::all_of(tuple.getTypes(),
                        [&](mlir::Type part) { return append(part, out, depth); });
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type)) {
    out.parts.push_back(tensorOf(shaped, out));
    return true;
  }
  if (type.isIntOrIndexOrFloat() || mlir::isa<mlir::ComplexType>(type)) {
    out.parts.push_back({readElementType(type), {}, true});
    return true;
  }
  std::string text = textOf(type);
  if (llvm::StringRef(text).ends_with(".token")) {
    out.parts.push_back({{ElementKind::Token, ElementKind::None}, {}, true});
    return true;
  }
  // Text that only looks like a type is no error, and nothing to print.
  mlir::ScopedDiagnosticHandler quiet(type.getContext(), [](mlir::Diagnostic&) {});
  // `!stablehlo.future<...>`, `!mhlo.async_bundle<...>`, `!mpmd.mesh_tensor<"m", ...>` stand for
  // what they hold; of any other type nothing is known.
  for (llvm::StringRef item : argumentsOf(text)) {
    if (!item.starts_with("tensor<") && !item.starts_with("tuple<"))
      continue;
    mlir::Type inner = mlir::parseType(item, type.getContext());
    if (inner && !append(inner, out, depth))
      return false;
  }
  if (out.parts.empty())
    out.parts.push_back({});
  return true;
}

const FlatType* TypeTable::of(mlir::Type type, unsigned depth) {
  auto known = types_.find(type);
  if (known != types_.end())
    return known->second.get();
  auto made = std::make_unique<FlatType>();
  if (!flatten(type, *made, depth))
    return nullptr;
  return (types_[type] = std::move(made)).get();
}

} // namespace nocturne::compiler
