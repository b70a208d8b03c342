// Who understands what: the signatures of the actors.
#pragma once

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "actors/messages.h"

namespace nocturne {

using SupervisorHandle =
    caf::typed_actor<caf::replies_to<RunRequest>::with<RunReport>, caf::reacts_to<FilesReady>,
                     caf::reacts_to<WorkerIdle>, caf::reacts_to<Committed>,
                     caf::reacts_to<ShardsReturned>, caf::reacts_to<RecordFailed>,
                     caf::reacts_to<StopRequest>, caf::reacts_to<GraceOver>>;

using EstimatorHandle = caf::typed_actor<caf::reacts_to<Batch>, caf::reacts_to<Resolved>>;

using CacheHandle = caf::typed_actor<
    caf::replies_to<OpenRecord>::with<DoneShards>, caf::replies_to<FileLookup>::with<FileReply>,
    caf::replies_to<Lookup>::with<LookupReply>, caf::reacts_to<Put>, caf::reacts_to<FlushTick>,
    caf::reacts_to<ClaimTick>, caf::replies_to<WorkerGone>::with<WorkerCleared>,
    caf::replies_to<Finish>::with<Finished>>;

using ProgressHandle = caf::typed_actor<caf::reacts_to<ProgressCounts>, caf::reacts_to<Warning>,
                                        caf::reacts_to<ProgressTick>>;

} // namespace nocturne
