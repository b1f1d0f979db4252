"""What all commands share: flags, inputs, worker processes, the manifest, and how a run starts and ends."""
