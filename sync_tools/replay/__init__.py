"""`sync replay`: a whole window of upstream ported onto an import, and what came of it compared with the import at its end."""
