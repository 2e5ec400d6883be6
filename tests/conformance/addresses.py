"""
Every connection comes from an address of its own. After 20 wrong credentials in a minute an address gets 429 before its
credentials are looked at, which is right, and would have us see nothing of how wrong ones are refused. On Linux
all of 127.0.0.0/8 is this machine.
"""

import random
import ssl

import urllib3

_draws = random.SystemRandom()


class _FromAnywhere(urllib3.connectionpool.HTTPSConnectionPool.ConnectionCls):
    def connect(self):
        self.source_address = (f"127.{_draws.randrange(1, 255)}.{_draws.randrange(256)}.{_draws.randrange(1, 255)}", 0)
        super().connect()

    def send(self, data):
        """
        Whoever says `Connection: close` and is refused may find the connection closed before the body is sent. The answer is there
        to be read all the same, as urllib3 knows of a broken pipe; over TLS that has another name.
        """
        try:
            super().send(data)
        except ssl.SSLEOFError as error:
            raise BrokenPipeError from error


urllib3.connectionpool.HTTPSConnectionPool.ConnectionCls = _FromAnywhere
