"""What senses answer without a model: questions, the model's tool, the block of a prompt, and the command /senses."""
