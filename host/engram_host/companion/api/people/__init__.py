"""Routes of people: access to boards, and each person's own view."""
