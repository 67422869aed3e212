"""Note 5: writes for three seconds, then says what window the other end announced."""

import os
import socket
import struct
import threading
import time

#: Where tcpi_snd_wnd is in struct tcp_info.
PLACE = 228

time.sleep(0.5)
out = socket.create_connection(("10.77.0.2", 5001))
threading.Thread(target=lambda: [out.sendall(bytes(1 << 18)) for _ in range(1000)], daemon=True).start()
time.sleep(3)
info = out.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
print(f"announced {struct.unpack_from('I', info, PLACE)[0]} B", flush=True)
os._exit(0)
