"""What targets with vectors share: records of instructions, the table of them, and its printer."""
