// RUN: %albumen targets | %filecheck %s
// RUN: %albumen targets --compiler /nowhere/cc | %filecheck %s --check-prefix=MISSING

// CHECK:      target {{ *}}needs
// CHECK-NEXT: c {{ *}}compiler {{ *}}{{yes|no}}
// CHECK:      c {{ *}}device cpu {{ *}}yes
// CHECK:      cuda {{ *}}compiler
// CHECK:      cuda {{ *}}device cuda
// CHECK:      metal {{ *}}compiler {{ *}}no {{.*}}never run on a device

// MISSING:      c {{ *}}compiler {{ *}}no {{.*}}/nowhere/cc
// MISSING-NEXT: to do:
