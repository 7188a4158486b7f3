// Loaded before the peer (`node --require`): keeps it on this machine, where it would otherwise wait for a network.
//
// Nothing it says to its clients or to the model passes through here.
"use strict";

const dns = require("node:dns");
const net = require("node:net");

const HERE = "127.0.0.1";

// It listens on every address of the machine, which a test has no business doing.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...given) {
  if (typeof given[0] === "number" || typeof given[0] === "string") {
    const callback = given.find((argument) => typeof argument === "function");
    return listen.call(this, { port: Number(given[0]), host: HERE }, callback);
  }
  if (given[0] !== null && typeof given[0] === "object" && "port" in given[0]) {
    given[0] = { ...given[0], host: HERE };
  }
  return listen.apply(this, given);
};

// A name that cannot be looked up takes seconds to fail; here it fails at once.
function refused(name) {
  const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
  return Object.assign(error, { code: "ENOTFOUND", errno: -3008, syscall: "getaddrinfo", hostname: name });
}

const isHere = (name) => name === "localhost" || net.isIP(name) !== 0;

const lookup = dns.lookup;
dns.lookup = function (name, ...rest) {
  if (isHere(name)) {
    return lookup.call(this, name, ...rest);
  }
  process.nextTick(rest[rest.length - 1], refused(name));
};

const promised = dns.promises.lookup;
dns.promises.lookup = async function (name, ...rest) {
  if (isHere(name)) {
    return promised.call(this, name, ...rest);
  }
  throw refused(name);
};

// Usage statistics are sent once a task, whatever the settings say: they are taken and thrown away.
const fetch = globalThis.fetch;
globalThis.fetch = async function (resource, options) {
  const url = new URL(typeof resource === "object" && "url" in resource ? resource.url : String(resource));
  if (url.hostname === "play.googleapis.com") {
    return new Response("{}", { status: 200, headers: { "content-type": "application/json" } });
  }
  if (!isHere(url.hostname.replace(/^\[|\]$/g, ""))) {
    throw new TypeError("fetch failed", { cause: refused(url.hostname) });
  }
  return fetch.call(this, resource, options);
};
