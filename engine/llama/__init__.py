"""Our own forward pass for Llama and the families of models that differ from it in what `family` describes."""
