#include "actors/messages.h"

#include <caf/actor_system_config.hpp>

namespace nocturne {

void addMessageTypes(caf::actor_system_config& config) {
  config.add_message_type<RunRequest>("nocturne.RunRequest")
      .add_message_type<RunReport>("nocturne.RunReport")
      .add_message_type<FilesReady>("nocturne.FilesReady")
      .add_message_type<WorkerIdle>("nocturne.WorkerIdle")
      .add_message_type<Batch>("nocturne.Batch")
      .add_message_type<ShardsReturned>("nocturne.ShardsReturned")
      .add_message_type<StopRequest>("nocturne.StopRequest")
      .add_message_type<GraceOver>("nocturne.GraceOver")
      .add_message_type<FileLookup>("nocturne.FileLookup")
      .add_message_type<FileReply>("nocturne.FileReply")
      .add_message_type<Lookup>("nocturne.Lookup")
      .add_message_type<LookupReply>("nocturne.LookupReply")
      .add_message_type<Resolved>("nocturne.Resolved")
      .add_message_type<Put>("nocturne.Put")
      .add_message_type<Committed>("nocturne.Committed")
      .add_message_type<FlushTick>("nocturne.FlushTick")
      .add_message_type<ClaimTick>("nocturne.ClaimTick")
      .add_message_type<OpenRecord>("nocturne.OpenRecord")
      .add_message_type<DoneShards>("nocturne.DoneShards")
      .add_message_type<WorkerGone>("nocturne.WorkerGone")
      .add_message_type<WorkerCleared>("nocturne.WorkerCleared")
      .add_message_type<RecordFailed>("nocturne.RecordFailed")
      .add_message_type<Finish>("nocturne.Finish")
      .add_message_type<Finished>("nocturne.Finished")
      .add_message_type<ProgressCounts>("nocturne.ProgressCounts")
      .add_message_type<ProgressTick>("nocturne.ProgressTick")
      .add_message_type<Warning>("nocturne.Warning");
}

} // namespace nocturne
