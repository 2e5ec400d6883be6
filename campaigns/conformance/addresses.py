"""
Gives every connection its own source IP address. After 20 wrong credentials in a minute an IP address gets 429 without
a check of its credentials. That is correct, but it would hide how wrong credentials are refused. On Linux all of
127.0.0.0/8 is this machine.
"""

import itertools
import ssl

import run
import urllib3

_numbers = itertools.count()


class _OwnSourceConnection(urllib3.connectionpool.HTTPSConnectionPool.ConnectionCls):
    def connect(self):
        number = next(_numbers)
        self.source_address = (f"127.{1 + (run.SEED + number // 62_500) % 250}.{number // 250 % 250}.{1 + number % 250}", 0)
        super().connect()

    def send(self, data):
        """
        A client that sends `Connection: close` and is refused may find the connection closed before it has sent the
        body. The response can still be read, and urllib3 does so after a broken pipe. Over TLS the error has another
        name.
        """
        try:
            super().send(data)
        except ssl.SSLEOFError as error:
            raise BrokenPipeError from error


urllib3.connectionpool.HTTPSConnectionPool.ConnectionCls = _OwnSourceConnection
