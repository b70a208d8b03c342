#include "estimators/check_declaration.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>
#include <typeinfo>

#include <cxxabi.h>

#include "engine/error.h"
#include "estimators/estimator_class.h"

namespace nocturne {

namespace {

bool isIdentifier(const std::string& text) {
  auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && (text[0] < '0' || text[0] > '9') &&
         std::all_of(text.begin(), text.end(), allowed);
}

void checkNames(const ClassDeclaration& declaration) {
  if (!isIdentifier(declaration.name))
    throwDeclarationError(declaration, "its name is not made of letters, digits and '_'");
  if (!declaration.hidden.empty())
    throwDeclarationError(declaration, "it hides Estimator::" + declaration.hidden +
                                           "(), which hooks and handlers serve to change");
  if (declaration.version == 0)
    throwDeclarationError(declaration, "versions start at 1");
}

void checkBases(const ClassDeclaration& declaration) {
  std::set<std::type_index> seen;
  for (const BaseDeclaration& base : declaration.bases)
    if (!seen.insert(base.base->type).second)
      throwDeclarationError(declaration, "it extends \"" + base.base->name + "\" twice");
}

void checkOptions(const ClassDeclaration& declaration) {
  std::set<std::string> seen;
  for (const OptionDeclaration& one : declaration.options) {
    const ConfigOption& option = one.option;
    std::string what = "option \"" + option.name + '"';
    if (!isIdentifier(option.name))
      throwDeclarationError(declaration, what + " is not made of letters, digits and '_'");
    if (!seen.insert(option.name).second)
      throwDeclarationError(declaration, what + " is declared twice");
    if (!option.validate)
      throwDeclarationError(declaration, what + " has no validator");
    if (option.defaultValue.is_null())
      continue;
    try {
      option.checked(option.defaultValue);
    } catch (const Error& error) {
      throwDeclarationError(declaration, what + ": its default is refused: " + error.what());
    }
  }
}

// A sweep has one instance absorb all others: what a class does not say how to join is lost.
void checkMerge(const ClassDeclaration& declaration) {
  if (declaration.merge != nullptr)
    return;
  if (!declaration.hooks.metadata.empty())
    throwDeclarationError(declaration,
                          "it has metadata hooks, but does not say with mergeWith<>() how "
                          "its instances are joined, or mergesNothing()");
  if (declaration.addsStatistics)
    throwDeclarationError(declaration, "it overrides addStatisticsTo(), but does not say with "
                                       "mergeWith<>() how its instances are joined");
}

void checkHandlers(const ClassDeclaration& declaration) {
  std::vector<std::string_view> seen;
  for (const HandlerDeclaration& handler : declaration.handlers) {
    if (handler.names.empty())
      throwDeclarationError(declaration, "an op handler names no operation");
    for (const std::string& name : handler.names) {
      size_t dot = name.find('.');
      if (dot == 0 || dot == std::string::npos || dot + 1 == name.size())
        throwDeclarationError(declaration, "\"" + name + "\" is not the full name of an operation");
      seen.push_back(name);
    }
  }
  std::sort(seen.begin(), seen.end());
  if (const auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end())
    throwDeclarationError(declaration, "two op handlers for " + std::string(*twice));
}

} // namespace

std::string displayNameOf(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? demangled.get() : type.name();
  if (const size_t scope = name.rfind("::"); scope != std::string::npos)
    name.erase(0, scope + 2);
  constexpr std::string_view kWord = "Estimator";
  for (size_t at = 0; (at = name.find(kWord, at)) != std::string::npos;)
    name.erase(at, kWord.size());
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

void throwDeclarationError(const ClassDeclaration& declaration, const std::string& what) {
  throw Error("estimator class \"" + declaration.name + "\": " + what);
}

void throwSecondDefaultHandler(const ClassDeclaration& declaration) {
  throwDeclarationError(declaration, "two default op handlers");
}

void checkDeclaration(const ClassDeclaration& declaration) {
  checkNames(declaration);
  checkBases(declaration);
  checkOptions(declaration);
  checkHandlers(declaration);
  checkMerge(declaration);
}

} // namespace nocturne
