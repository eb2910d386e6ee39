"""The text form: `parse` reads it, `render` writes it, and they are inverse."""
