"""What the page needs of the database: sessions of browsers, and lists of boards."""
