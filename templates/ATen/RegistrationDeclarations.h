$# Makes RegistrationDeclarations.h, a list for programs that generate code for backends.
$#   registration_declarations   a C++ declaration for each operator, with its schema and what is known of it
// ${generated_comment}
// What a backend may register a kernel for: the kernel's declaration and, as JSON, the operator's schema.

$registration_declarations
