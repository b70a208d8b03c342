// All operations, for one run of the generator.

include "ElementwiseOps.td"
include "ShapeOps.td"
include "ContractionOps.td"
include "ReductionOps.td"
include "ControlFlowOps.td"
include "CollectiveOps.td"
include "CustomOps.td"
