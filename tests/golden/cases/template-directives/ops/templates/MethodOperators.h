$fi x
