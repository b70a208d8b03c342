// Communication between devices, and with the host.

#ifndef NOCTURNE_DIALECT_COLLECTIVE_OPS
#define NOCTURNE_DIALECT_COLLECTIVE_OPS

include "Attrs.td"
include "Enums.td"

class Shlo_CollectiveOp<string mnemonic> : Shlo_Op<mnemonic> {
  let results = (outs Variadic<Shlo_Any>);
  let hasVerifier = 1;
}

def Shlo_AllReduceOp : Shlo_CollectiveOp<"all_reduce"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle,
                       OptionalAttr<Shlo_Flag>:$use_global_device_ids);
  let regions = (region AnyRegion:$computation);
}
def Shlo_AllGatherOp : Shlo_CollectiveOp<"all_gather"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_Int:$all_gather_dim,
                       Shlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle,
                       OptionalAttr<Shlo_Flag>:$use_global_device_ids);
}
def Shlo_AllToAllOp : Shlo_CollectiveOp<"all_to_all"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_Int:$split_dimension,
                       Shlo_Int:$concat_dimension, Shlo_Int:$split_count,
                       Shlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle);
}
def Shlo_ReduceScatterOp : Shlo_CollectiveOp<"reduce_scatter"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_Int:$scatter_dimension,
                       Shlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle,
                       OptionalAttr<Shlo_Flag>:$use_global_device_ids);
  let regions = (region AnyRegion:$computation);
}
def Shlo_CollectivePermuteOp : Shlo_CollectiveOp<"collective_permute"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_I64Matrix:$source_target_pairs,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle);
}
def Shlo_CollectiveBroadcastOp : Shlo_CollectiveOp<"collective_broadcast"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle);
}
def Shlo_CollectiveReduceOp : Shlo_CollectiveOp<"collective_reduce"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Shlo_ChannelHandle>:$channel_handle,
                       OptionalAttr<Shlo_Flag>:$use_global_device_ids);
  let regions = (region AnyRegion:$computation);
}
// Removed from the specification; old files have it.
def Shlo_CrossReplicaSumOp : Shlo_CollectiveOp<"cross-replica-sum"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_ReplicaGroups:$replica_groups);
}

class Shlo_DeviceIdOp<string mnemonic> : Shlo_Op<mnemonic, [Pure]> {
  let results = (outs Shlo_IntTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Shlo_PartitionIdOp : Shlo_DeviceIdOp<"partition_id">;
def Shlo_ReplicaIdOp : Shlo_DeviceIdOp<"replica_id">;

def Shlo_SendOp : Shlo_Op<"send"> {
  // The last operand is the token.
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_ChannelHandle:$channel_handle,
                       OptionalAttr<Shlo_Flag>:$is_host_transfer,
                       OptionalAttr<Shlo_I64Matrix>:$source_target_pairs);
  let results = (outs Shlo_Any:$result);
}
def Shlo_RecvOp : Shlo_Op<"recv"> {
  let arguments = (ins Shlo_Any:$token, Shlo_ChannelHandle:$channel_handle,
                       OptionalAttr<Shlo_Flag>:$is_host_transfer,
                       OptionalAttr<Shlo_I64Matrix>:$source_target_pairs);
  // The last result is the token.
  let results = (outs Variadic<Shlo_Any>);
}
def Shlo_InfeedOp : Shlo_Op<"infeed"> {
  let arguments = (ins Shlo_Any:$token, OptionalAttr<Shlo_Str>:$infeed_config,
                       OptionalAttr<Shlo_Array>:$layout);
  let results = (outs Variadic<Shlo_Any>);
}
def Shlo_OutfeedOp : Shlo_Op<"outfeed"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, OptionalAttr<Shlo_Str>:$outfeed_config);
  let results = (outs Shlo_Any:$result);
}

#endif // NOCTURNE_DIALECT_COLLECTIVE_OPS
