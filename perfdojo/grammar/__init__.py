"""The Lark grammar of the notation, read as a resource."""
