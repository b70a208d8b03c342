#include "compiler/tuning/code_digest.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBufferRef.h"

#include "engine/error.h"
#include "engine/file_bytes.h"

namespace nocturne::compiler {

namespace {

bool isContent(llvm::StringRef name) {
  return name.starts_with(".text") || name.starts_with(".rodata") || name.starts_with(".data") ||
         name.starts_with(".nv_fatbin");
}

std::string masked(std::string content, const std::string& text) {
  for (size_t at = content.find(text); at != std::string::npos; at = content.find(text, at))
    content.replace(at, text.size(), text.size(), '0');
  return content;
}

} // namespace

Digest codeDigest(const std::string& library, const Digest& key) {
  const std::string bytes = readFile(library);
  const auto refuse = [&](llvm::Error error) {
    throw ItemError({FailureKind::Unreadable, llvm::toString(std::move(error)), library, 0, 0});
  };
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, library));
  if (!object)
    refuse(object.takeError());
  Hasher hasher;
  for (const llvm::object::SectionRef& section : (*object)->sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name)
      refuse(name.takeError());
    if (!isContent(*name))
      continue;
    llvm::Expected<llvm::StringRef> content = section.getContents();
    if (!content)
      refuse(content.takeError());
    hasher.field(name->str()).field(masked(content->str(), key.hex()));
  }
  return hasher.finish();
}

} // namespace nocturne::compiler
