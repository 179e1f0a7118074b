"""What runs a local model: numpy, which is always there, or onnxruntime, which is several times as fast."""
