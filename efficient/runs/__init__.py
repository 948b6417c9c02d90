"""Keep a run that can stop, resume, be saved and loaded, for one model or for many."""
