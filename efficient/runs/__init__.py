"""Keep a run that can stop, resume, be saved, loaded and certified, for one model or for many."""
