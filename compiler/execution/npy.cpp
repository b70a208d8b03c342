#include <algorithm>
#include <cstring>

#include "llvm/ADT/APFloat.h"

#include "compiler/execution/tensor_data.h"
#include "engine/error.h"
#include "engine/file_bytes.h"

namespace nocturne::compiler {

namespace {

constexpr char kMagic[] = "\x93NUMPY\x01";
constexpr size_t kPrefix = 10; // magic, two bytes of version, two of the header's length

std::string descriptor(const ElementFormat& format) {
  size_t bytes = format.elementBytes();
  std::string order = format.bytes > 1 ? "<" : "|";
  if (format.isComplex)
    return order + 'c' + std::to_string(bytes);
  switch (format.kind) {
  case ElementFormat::Kind::Boolean:
    return "|b1";
  case ElementFormat::Kind::Signed:
    return order + 'i' + std::to_string(bytes);
  case ElementFormat::Kind::Unsigned:
    return order + 'u' + std::to_string(bytes);
  case ElementFormat::Kind::Real:
    break;
  }
  bool known = format.semantics == &llvm::APFloat::IEEEhalf() ||
               format.semantics == &llvm::APFloat::IEEEsingle() ||
               format.semantics == &llvm::APFloat::IEEEdouble();
  return order + (known ? 'f' : 'u') + std::to_string(bytes);
}

std::string shapeText(const std::vector<int64_t>& dims) {
  std::string text = "(";
  for (int64_t dim : dims)
    text += std::to_string(dim) + ",";
  if (dims.size() > 1)
    text.pop_back();
  return text + ')';
}

std::string withoutBlanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Of a file that may have anything in it, for a message.
std::string shown(const std::string& header) {
  constexpr size_t kMost = 200;
  std::string text;
  for (const char c : header.substr(0, kMost))
    text += c >= ' ' && c <= '~' ? c : ' ';
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

} // namespace

TensorData readNpy(const std::string& path, const LibraryArgument& argument) {
  std::string bytes = readFile(path);
  TensorData tensor(argument);
  if (bytes.size() < kPrefix || !bytes.starts_with(kMagic))
    throw UsageError(path + " is no NumPy file of version 1");
  size_t length = uint8_t(bytes[8]) | size_t{uint8_t(bytes[9])} << 8;
  std::string header = withoutBlanks(bytes.substr(kPrefix, length));
  std::string wanted = "'descr':'" + descriptor(tensor.format()) + '\'';
  std::string shape = "'shape':" + shapeText(argument.dims);
  if (header.find(wanted) == std::string::npos || header.find(shape) == std::string::npos ||
      header.find("'fortran_order':False") == std::string::npos)
    throw UsageError(path + " is " + shown(header) + ", not a tensor of " + tensor.typeText());
  const size_t data = bytes.size() - std::min(bytes.size(), kPrefix + length);
  if (data != tensor.bytes())
    throw UsageError(path + " has " + std::to_string(data) + " bytes of numbers; a tensor of " +
                     tensor.typeText() + " has " + std::to_string(tensor.bytes()));
  std::memcpy(tensor.data(), bytes.data() + kPrefix + length, tensor.bytes());
  return tensor;
}

std::string npyBytes(const TensorData& tensor) {
  std::string header = "{'descr': '" + descriptor(tensor.format()) +
                       "', 'fortran_order': False, 'shape': " + shapeText(tensor.dims()) + ", }";
  // The data begins at a multiple of 64 bytes.
  header.resize((kPrefix + header.size() + 1 + 63) / 64 * 64 - kPrefix - 1, ' ');
  header += '\n';
  std::string bytes(kMagic, 7);
  bytes += '\0';
  bytes += char(header.size() & 0xFF);
  bytes += char(header.size() >> 8);
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
}

} // namespace nocturne::compiler
