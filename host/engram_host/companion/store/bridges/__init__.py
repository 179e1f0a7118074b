"""Who may talk through bridges, in which chats, and what these are owed."""
