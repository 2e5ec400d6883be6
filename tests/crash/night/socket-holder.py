"""Holds a listening socket and runs a service on it, as systemd does. SIGHUP replaces the service, SIGTERM ends it."""

import os
import signal
import socket
import subprocess
import sys

listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
os.dup2(listener.fileno(), 3)
# The shell replaces itself with the service, so its process id is the one of the service.
COMMAND = ["sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh", *sys.argv[1:]]
is_stopping = False


def stop(*_):
    global is_stopping
    is_stopping = True
    service.terminate()


signal.signal(signal.SIGHUP, lambda *_: service.terminate())
signal.signal(signal.SIGTERM, stop)
while not is_stopping:
    service = subprocess.Popen(COMMAND, pass_fds=[3])
    code = service.wait()
sys.exit(code)
