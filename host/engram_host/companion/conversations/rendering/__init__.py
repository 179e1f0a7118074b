"""How an answer looks in a chat: pieces become one text, and the text messages that grow by edits."""
