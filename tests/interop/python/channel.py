"""Channels of gRPC to the server: the address without its scheme, and the token on every call."""

from typing import Any

import grpc


def opened(url: str, token: str | None = None) -> grpc.aio.Channel:
    """A channel without encryption."""
    target = url.removeprefix("http://").rstrip("/")
    # gRPC takes an interceptor for one kind of call only, however many kinds its class is.
    interceptors = [_Unary(token), _Stream(token)] if token else []
    return grpc.aio.insecure_channel(target, interceptors=interceptors)


class _Unary(grpc.aio.UnaryUnaryClientInterceptor):
    def __init__(self, token: str) -> None:
        self._token = token

    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(_with(self._token, details), request)


class _Stream(grpc.aio.UnaryStreamClientInterceptor):
    def __init__(self, token: str) -> None:
        self._token = token

    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(_with(self._token, details), request)


def _with(token: str, details: Any) -> Any:
    known = list(details.metadata or ())
    return details._replace(metadata=grpc.aio.Metadata(*known, ("authorization", f"Bearer {token}")))
