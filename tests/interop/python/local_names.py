"""A plugin of proxy.py: names below `.test` are on this machine."""

from proxy.http.proxy import HttpProxyBasePlugin


class LocalNames(HttpProxyBasePlugin):
    def resolve_dns(self, host, port):
        return ("127.0.0.1", None) if host.endswith(".test") else (None, None)
