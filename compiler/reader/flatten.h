// IR to rows.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/reader/branches.h"
#include "compiler/reader/call_graph.h"
#include "compiler/reader/distinct.h"
#include "compiler/reader/liveness.h"
#include "compiler/reader/reader.h"
#include "compiler/reader/trip_count.h"

namespace nocturne::compiler {

// Turns the functions of a module into one table. A function that is called gets a table of its
// own, once, which is appended wherever it is called; it is dropped after its last call.
class Flattener {
public:
  Flattener(mlir::ModuleOp source, const ReaderOptions& options, Module& module);

  // Fills files, ops, rows, valueIds, arguments, results and assumptions; `failure` says what went
  // wrong otherwise.
  mlir::LogicalResult run(Failure& failure);
  const LifeFacts& lifeFacts() const { return life_; }

private:
  // The rows of one function, with value numbers of their own: arguments first, then the rest.
  struct Table {
    std::vector<OpRow> rows;
    std::vector<uint32_t> valueIds;
    std::vector<LifeFacts::Loop> loops;
    std::vector<LifeFacts::Use> uses;
    std::vector<uint32_t> results;
    uint32_t argumentCount = 0;
    uint32_t valueCount = 0;
  };
  // Where in the program the rows being made stand.
  struct Context {
    double multiplicity = 1;
    uint32_t loopDepth = 0;
    bool isEntry = false;    // directly or indirectly in the entry function itself
    bool isFunction = false; // in the function's own region: its return ends it
  };
  using Ids = llvm::SmallVector<uint32_t, 8>;

  mlir::LogicalResult fail(mlir::Operation* op, std::string message);
  void setPlace(mlir::Operation* op, OpRow& row);
  std::string placeOf(mlir::Operation* op);
  uint16_t fileIndex(mlir::StringAttr name);

  mlir::LogicalResult buildTables(llvm::ArrayRef<mlir::Operation*> entries);
  mlir::LogicalResult addEntry(mlir::Operation* function);
  mlir::LogicalResult addFunction(mlir::Operation* function, bool isEntry);
  mlir::LogicalResult addRegion(mlir::Region& region, const Context& context,
                                llvm::ArrayRef<uint32_t> arguments, Ids& yielded);
  mlir::LogicalResult addOp(mlir::Operation* op, const Context& context, Ids& yielded);
  mlir::LogicalResult addRow(mlir::Operation* op, const Context& context);
  mlir::LogicalResult addWhile(mlir::Operation* op, const Context& context);
  mlir::LogicalResult addBranch(mlir::Operation* op, const Context& context);
  mlir::LogicalResult addInline(mlir::Operation* op, const Context& context);
  mlir::LogicalResult addCall(mlir::Operation* op, mlir::Operation* callee, const Context& context);
  void append(Table& from, const Context& context, llvm::ArrayRef<uint32_t> numbers);
  void bindResults(mlir::Operation* op, llvm::ArrayRef<uint32_t> ids);
  void useAtEnd(llvm::ArrayRef<uint32_t> ids, size_t firstRow);
  uint32_t idOf(mlir::Value value);
  double tripCountOf(mlir::Operation* op);
  mlir::LogicalResult takeSignature(mlir::Operation* function);

  void assume(std::string kind, std::string value, mlir::Operation* op);
  void assumeDimensions();
  void renumberOps();

  mlir::ModuleOp source_;
  const ReaderOptions& options_;
  Module& module_;
  OpKinds kinds_;
  CallGraph calls_;
  DistinctOps distinct_;
  TripCounts trips_;
  Branches branches_;
  LifeFacts life_;
  Failure* failure_ = nullptr;

  Table* table_ = nullptr;                    // being filled
  llvm::DenseMap<mlir::Value, uint32_t> ids_; // of the function being flattened
  llvm::DenseMap<mlir::Operation*, Table> tables_;
  llvm::DenseMap<mlir::Operation*, unsigned> callsLeft_;
  llvm::DenseMap<const void*, uint16_t> fileIndices_;
  uint32_t topLevel_ = 0; // operation of the entry function
};

} // namespace nocturne::compiler
