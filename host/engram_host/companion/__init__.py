"""The companion: keeps a copy of what boards remember, and finds it again by words and by meaning."""
