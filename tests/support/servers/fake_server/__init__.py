"""What the stand-ins for remote services share: an HTTP server of the standard library, in a loop or in a thread.

http      requests and answers as bytes on a connection
server    the server: connections, their bound, its end
threads   a server in a thread of its own, for code that is not async
"""
