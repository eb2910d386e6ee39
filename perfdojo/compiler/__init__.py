"""The compiler: text, the tree, proofs, the reference, lowering. Knows no target and runs no tool."""
