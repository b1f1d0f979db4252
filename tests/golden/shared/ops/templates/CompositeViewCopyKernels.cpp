// $generated_comment
// ops_headers
$ops_headers
// CompositeViewCopyKernel_Definitions
$CompositeViewCopyKernel_Definitions
// GeneratedCompositeFunctional_Definitions
$GeneratedCompositeFunctional_Definitions
// GeneratedCompositeOut_Definitions
$GeneratedCompositeOut_Definitions
