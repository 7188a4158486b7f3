// What gRPC needs to reach the server: the token on every call.

import { sdk } from './harness.mjs';

const grpc = sdk('@grpc/grpc-js');

/** Options for the SDKs' gRPC transport. */
export function channel(token) {
  const dress = (options, next) =>
    new grpc.InterceptingCall(next(options), {
      start(metadata, listener, go) {
        metadata.set('authorization', `Bearer ${token}`);
        go(metadata, listener);
      },
    });
  const grpcChannelCredentials = grpc.credentials.createInsecure();
  return token ? { grpcChannelCredentials, grpcCallOptions: { interceptors: [dress] } } : { grpcChannelCredentials };
}

/** `fetch` with the token. */
export function fetching(token) {
  if (!token) return fetch;
  return (url, options = {}) => {
    const headers = new Headers(options.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(url, { ...options, headers });
  };
}
