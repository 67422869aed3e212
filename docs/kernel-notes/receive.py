"""Note 5: takes bytes, and sets a limit on the window at one of three times."""

import socket
import sys

WINDOW = 60_516

mode = sys.argv[1]  # never, listener, accepted or reading
door = socket.create_server(("10.77.0.2", 5001))
if mode == "listener":
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, WINDOW)
come, _ = door.accept()
if mode == "accepted":
    come.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, WINDOW)
while come.recv(1 << 20):
    if mode == "reading":
        come.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, WINDOW)
