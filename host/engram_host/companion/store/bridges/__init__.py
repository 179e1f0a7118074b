"""People and chats of bridges, and deliveries to them."""
