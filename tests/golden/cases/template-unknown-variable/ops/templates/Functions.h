$functons_declarations ${static_dispatch_ops_headrs}
