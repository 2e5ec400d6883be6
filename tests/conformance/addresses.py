"""
Every connection comes from an address of its own. After 20 wrong credentials in a minute an address gets 429 before its
credentials are looked at, which is right, and would have us see nothing of how wrong ones are refused. On Linux
all of 127.0.0.0/8 is this machine.
"""

import random

import urllib3

_draws = random.SystemRandom()


class _FromAnywhere(urllib3.connectionpool.HTTPSConnectionPool.ConnectionCls):
    def connect(self):
        self.source_address = (f"127.{_draws.randrange(1, 255)}.{_draws.randrange(256)}.{_draws.randrange(1, 255)}", 0)
        super().connect()


urllib3.connectionpool.HTTPSConnectionPool.ConnectionCls = _FromAnywhere
