#include "storage/blob_codec.h"

#include <zlib.h>

#include "engine/error.h"

namespace nocturne {

namespace {

constexpr size_t kWorthCompressing = 512;
constexpr size_t kHeaderBytes = 9;
// zlib cannot shrink anything by more, so a blob that claims it is broken.
constexpr uint64_t kLargestRatio = 1100;

std::string storedRaw(std::string_view bytes) {
  std::string out(1, 'r');
  out.append(bytes);
  return out;
}

} // namespace

std::string encodeBlob(std::string_view bytes) {
  if (bytes.size() < kWorthCompressing)
    return storedRaw(bytes);
  uLongf size = compressBound(bytes.size());
  std::string out(kHeaderBytes + size, '\0');
  out[0] = 'z';
  for (int i = 0; i < 8; ++i)
    out[1 + static_cast<size_t>(i)] = static_cast<char>(uint64_t{bytes.size()} >> (8 * i));
  int code = compress2(reinterpret_cast<Bytef*>(out.data() + kHeaderBytes), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1);
  if (code != Z_OK || kHeaderBytes + size > bytes.size())
    return storedRaw(bytes);
  out.resize(kHeaderBytes + size);
  return out;
}

std::string decodeBlob(std::string_view blob) {
  if (!blob.empty() && blob[0] == 'r')
    return std::string(blob.substr(1));
  if (blob.size() < kHeaderBytes || blob[0] != 'z')
    throw Error("a stored blob is broken");
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i)
    size |= uint64_t{static_cast<unsigned char>(blob[1 + static_cast<size_t>(i)])} << (8 * i);
  if (size / kLargestRatio > blob.size())
    throw Error("a stored blob is broken");
  std::string out(size, '\0');
  uLongf got = size;
  int code = uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                        reinterpret_cast<const Bytef*>(blob.data() + kHeaderBytes),
                        blob.size() - kHeaderBytes);
  if (code != Z_OK || got != size)
    throw Error("a stored blob is broken");
  return out;
}

} // namespace nocturne
