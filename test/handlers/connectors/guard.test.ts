// Every URL of the reference's list of server-side request forgeries, on real sockets and a real DNS server, and hostile
// answers. The listener on loopback stands for everything that must not be reached: it counts connections.
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { classify } from "../../../src/core/errors/errors.js";
import { sendTo } from "../../../src/handlers/connectors/guard/hop.js";
import {
  default_policy,
  type GuardedRequest,
  guardedExchange,
  guardedRequest,
  type OutboundPolicy,
  OutboundRefused,
  refusal_message,
} from "../../../src/handlers/connectors/guard/index.js";
import { a, aaaa, cname, type DnsServer, startDns } from "./dns_server.js";
import { type Listener, listen, listenRaw } from "./listener.js";

let inner: Listener;
let dns: DnsServer;

/** http: and any port are allowed, so that what refuses is the address itself. */
function open(more: Partial<OutboundPolicy> = {}): OutboundPolicy {
  return {
    ...default_policy,
    allow_http: true,
    ports: [80, 443, inner.port],
    refusal_ms: 0,
    resolver: dns.address,
    connect_timeout_ms: 10_000,
    total_timeout_ms: 20_000,
    ...more,
  };
}

/** An operator has opened this one listener. */
function opened(listener: Listener, more: Partial<OutboundPolicy> = {}): OutboundPolicy {
  return open({ allow_private: [`127.0.0.1:${listener.port}`], ...more });
}

async function refusal(url: string, policy = open(), more: Partial<GuardedRequest> = {}): Promise<OutboundRefused> {
  const error = await guardedRequest({ url, policy, ...more }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutboundRefused);
  const refused = error as OutboundRefused;
  expect(refused.message).toBe(refusal_message);
  expect(classify(refused)).toMatchObject({ category: "permanent", code: "outbound_refused" });
  // Nothing that is recorded of the failure tells the tenant what was found.
  expect(JSON.stringify(classify(refused))).not.toContain(refused.operator_detail);
  return refused;
}

async function failure(url: string, policy: OutboundPolicy, more: Partial<GuardedRequest> = {}) {
  const error = await guardedRequest({ url, policy, ...more }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  return classify(error);
}

beforeAll(async () => {
  inner = await listen((_, response) => response.end("the inner service"));
  dns = await startDns((name, type, nth) => {
    const ipv4 = type === "A";
    switch (name) {
      case "mixed.example.com":
        return ipv4 ? [a(name, "93.184.215.14"), a(name, "127.0.0.1")] : [];
      case "mixed6.example.com":
        return ipv4 ? [a(name, "93.184.215.14")] : [aaaa(name, "::1")];
      case "rebind.example.com":
        return ipv4 ? [a(name, nth === 0 ? "127.0.0.2" : "127.0.0.1")] : [];
      case "chain.example.com":
        return ipv4
          ? [cname(name, "chain2.example.com"), cname("chain2.example.com", "localhost"), a("localhost", "127.0.0.1")]
          : [cname(name, "chain2.example.com")];
      case "private.example.com":
        return ipv4 ? [a(name, "10.0.0.5")] : [];
      case "wire.example.com":
        return ipv4 ? [a(name, "168.63.129.16")] : [];
      case "opened.example.com":
        return ipv4 ? [a(name, "127.0.0.1")] : [];
      case "silent.example.com":
        return undefined;
      default:
        return null;
    }
  });
});

afterAll(async () => {
  await inner.close();
  await dns.close();
});

describe("the list of forged addresses", () => {
  const urls = [
    "http://127.0.0.1:PORT",
    "http://127.0.0.1",
    "http://localhost:PORT",
    "http://localhost.:PORT",
    "http://LOCALHOST:PORT",
    "http://sub.localhost:PORT",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0177.0.0.1:PORT",
    "http://2130706433:PORT",
    "http://0x7f.1:PORT",
    "http://0x7f000001:PORT",
    "http://127.1:PORT",
    "http://127.0.0.1.:PORT",
    "http://127%2e0%2e0%2e1:PORT",
    "http://%6cocalhost:PORT",
    "http://017700000001:PORT",
    "http://[::ffff:a9fe:a9fe]/latest/meta-data",
    "http://[fd00:ec2::254%25lo]/",
    "http://①②⑦.⓪.⓪.①:PORT",
    "http://１２７。０。０。１:PORT",
    "http://[::1]:PORT",
    "http://[::]:PORT",
    "http://[0:0:0:0:0:0:0:1]:PORT",
    "http://[::ffff:127.0.0.1]:PORT",
    "http://[::ffff:7f00:1]:PORT",
    "http://[::ffff:0:127.0.0.1]:PORT",
    "http://[::127.0.0.1]:PORT",
    "http://[::7f00:1]:PORT",
    "http://[64:ff9b::7f00:1]:PORT",
    "http://[64:ff9b:1::7f00:1]:PORT",
    "http://[2002:7f00:1::]:PORT",
    "http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]:PORT",
    "http://[2001:4860:4860::5efe:7f00:1]:PORT",
    "http://[2001:db8::1]:PORT",
    "http://[3fff::1]:PORT",
    "http://[100::1]:PORT",
    "http://[5f00::1]:PORT",
    "http://[ff02::1]:PORT",
    "http://[fec0::1]:PORT",
    "http://[fe80::1]:PORT",
    "http://[fe80::1%25eth0]:PORT",
    "http://[fd00:ec2::254]/",
    "http://169.254.169.254/latest/meta-data",
    "http://2852039166",
    "http://100.100.100.200",
    "http://168.63.129.16",
    "http://192.0.0.192",
    "http://metadata.google.internal",
    "http://metadata.google.internal./",
    "http://printer.local",
    "http://router.lan",
    "http://intranet",
    "http://10.0.0.5",
    "http://172.16.0.1",
    "http://172.31.255.255",
    "http://192.168.1.1",
    "http://100.64.0.1",
    "http://198.18.0.1",
    "http://192.0.2.1",
    "http://198.51.100.1",
    "http://203.0.113.1",
    "http://192.88.99.1",
    "http://224.0.0.1",
    "http://240.0.0.1",
    "http://255.255.255.255",
    "http://user:pw@example.com",
    "http://user@example.com",
    "http://@example.com",
    "http://example.com:80@127.0.0.1:PORT",
    "http://example.com#@127.0.0.1:PORT",
    "http://127.0.0.1:PORT\\@example.com",
    "http:\\\\127.0.0.1:PORT",
    "ht\ntp://127.0.0.1:PORT",
    "http://127.0.0.1:PORT\t/",
    " http://127.0.0.1:PORT",
    "http://127.0.0.1:PORT/\r\nHost: x",
    "http://exa\u200bmple.com",
    "//127.0.0.1:PORT",
    "gopher://127.0.0.1:PORT/_x",
    "ftp://127.0.0.1/x",
    "file:///etc/passwd",
    "data:text/plain,x",
    "jar:http://127.0.0.1!/x",
    "unix:/var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/x",
    "javascript:alert(1)",
    "",
    "http://",
    "not a url",
    "http://93.184.215.14:22",
    "http://93.184.215.14:25",
    "http://93.184.215.14:5432",
    "http://93.184.215.14:6379",
    "http://example.com:22",
    "http://mixed.example.com:PORT",
    "http://mixed6.example.com:PORT",
    "http://chain.example.com:PORT",
    "http://private.example.com:PORT",
    "http://wire.example.com",
    "http://nowhere.example.com",
  ];
  test.each(urls)("%j is refused", async (url) => {
    await refusal(url.replace("PORT", String(inner.port)));
    expect(inner.connections()).toBe(0);
  });

  test("a URL of two megabytes is refused", async () => {
    await refusal(`http://example.com/${"x".repeat(2 * 1024 * 1024)}`);
  });

  test("http: is refused unless it is allowed, and nothing is resolved for it", async () => {
    await refusal("http://opened.example.com", open({ allow_http: false }));
    expect(dns.asked("opened.example.com")).toBe(0);
  });

  test("a name that rebinds is resolved once, and the address that was vetted is the one called", async () => {
    const second = await listen((_, response) => response.end("vetted"), "127.0.0.2", inner.port);
    try {
      const policy = open({ allow_private: ["127.0.0.2"] });
      const url = `http://rebind.example.com:${inner.port}/`;
      const { body, address } = await guardedRequest({ url, policy });
      expect([Buffer.from(body).toString(), address]).toEqual(["vetted", "127.0.0.2"]);
      expect(dns.asked("rebind.example.com")).toBe(1);
      // From now on the name says 127.0.0.1.
      await refusal(url, policy);
      expect(inner.connections()).toBe(0);
      expect(second.connections()).toBe(1);
    } finally {
      await second.close();
    }
  });

  test("a connection that leads elsewhere than to the vetted address is closed before anything is said on it", async () => {
    const listener = await listen((_, response) => response.end());
    try {
      // An address in the URL needs no lookup: only the look at the connection itself can see that it was not vetted.
      const request = { url: new URL(listener.url), method: "GET", headers: { authorization: "x" }, body: undefined };
      const vetted = [{ address: "127.0.0.2", family: 4 as const }];
      const sent = sendTo(vetted, request, opened(listener), new AbortController().signal);
      await expect(sent).rejects.toBeInstanceOf(OutboundRefused);
      expect(listener.requests).toEqual([]);
    } finally {
      await listener.close();
    }
  });

  test("a host that is not on the operator's list is refused before it is resolved", async () => {
    await refusal("https://opened.example.com/", open({ allow_hosts: ["*.example.org", "api.example.com"] }));
    expect(dns.asked("opened.example.com")).toBe(0);
  });

  test("a DNS server that never answers costs the deadline and is worth a retry", async () => {
    const told = await failure("http://silent.example.com", open({ connect_timeout_ms: 200 }));
    expect(told).toMatchObject({ category: "transient", code: "dns" });
  });

  test("no proxy of the environment is asked", async () => {
    const proxy = await listen((_, response) => response.end("proxied"));
    const before = { ...process.env };
    Object.assign(process.env, { http_proxy: proxy.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1" });
    try {
      const { body } = await guardedRequest({ url: inner.url, policy: opened(inner) });
      expect(Buffer.from(body).toString()).toBe("the inner service");
      expect(proxy.connections()).toBe(0);
    } finally {
      for (const name of ["http_proxy", "HTTP_PROXY", "NODE_USE_ENV_PROXY"]) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
      await proxy.close();
    }
  });

  test("a refusal is told no sooner than the policy says, whatever was found", async () => {
    for (const url of ["http://127.0.0.1", "http://private.example.com", "http://nowhere.example.com", "file:///x"]) {
      const began = performance.now();
      await refusal(url, open({ refusal_ms: 60 }));
      // A timer may fire a millisecond early.
      expect(performance.now() - began).toBeGreaterThan(58);
    }
  });
});

describe("what an operator opens", () => {
  test("a listener on loopback is called, by address and by name, with its own Host", async () => {
    const listener = await listen((_, response) => response.end("hello"));
    const policy = opened(listener);
    try {
      const one = await guardedRequest({ url: `${listener.url}/a?b=c#d`, policy });
      expect(one).toMatchObject({ status: 200, truncated: false, address: "127.0.0.1", redirects: 0 });
      const url = `http://opened.example.com:${listener.port}/`;
      await guardedRequest({ url, method: "POST", body: "x", headers: { "X-Own": "1" }, policy });
      expect(listener.requests).toMatchObject([
        { method: "GET", path: "/a?b=c", headers: { host: `127.0.0.1:${listener.port}` } },
        { method: "POST", body: "x", headers: { host: `opened.example.com:${listener.port}`, "x-own": "1" } },
      ]);
      expect(listener.connections()).toBe(2);
    } finally {
      await listener.close();
    }
  });

  test("opening one port opens no other, and opening IPv4 opens no IPv6 form of it", async () => {
    const policy = open({ ports: [80, 443], allow_private: ["127.0.0.1:1"] });
    await refusal(`http://127.0.0.1:${inner.port}`, policy);
    await refusal("http://127.0.0.1", policy);
    await refusal(`http://[::ffff:127.0.0.1]:${inner.port}`, open({ allow_private: ["127.0.0.0/8"] }));
    // The way through NAT64 is open, what is private behind it is not.
    await refusal("http://[64:ff9b::7f00:1]", open({ allow_private: ["64:ff9b::/96"] }));
  });

  test("headers that say how the connection works, or break out of their line, are not sent", async () => {
    for (const headers of [{ host: "inner" }, { "content-length": "1" }, { "x-a": "1\r\nx-b: 2" }, { "x\n": "1" }]) {
      const told = await failure(inner.url, opened(inner), { headers: headers as unknown as Record<string, string> });
      expect(told).toMatchObject({ category: "permanent", code: "bad_request" });
    }
    expect(await failure(inner.url, opened(inner), { method: "CONNECT" })).toMatchObject({ category: "permanent" });
  });
});

describe("redirects", () => {
  /** Redirects everything under /to?… to what the query says. */
  async function redirecting(status: number, to: (listener: Listener) => string): Promise<Listener> {
    const listener: Listener = await listen((request, response) => {
      if (request.url === "/end") response.end("arrived");
      else response.writeHead(status, { location: to(listener) }).end("a body nobody reads");
    });
    return listener;
  }

  test.each([
    ["a loopback listener", () => `http://127.0.0.1:${inner.port}/`],
    ["a name of loopback", () => `http://chain.example.com:${inner.port}/`],
    ["a file", () => "file:///etc/passwd"],
    ["a host without its scheme", () => `//127.0.0.1:${inner.port}/`],
    ["an address with a password", () => "http://user:pw@example.com/"],
    ["the metadata service", () => "http://169.254.169.254/latest/meta-data"],
    ["gopher", () => "gopher://127.0.0.1/"],
  ])("to %s is refused, and nothing connects", async (_, to) => {
    const before = inner.connections();
    const listener = await redirecting(302, to);
    try {
      await refusal(listener.url, opened(listener, { max_redirects: 3, ports: [80, 443] }));
      expect(listener.connections()).toBe(1);
      expect(inner.connections()).toBe(before);
    } finally {
      await listener.close();
    }
  });

  test("a loop and eleven hops end at the limit", async () => {
    const loop = await redirecting(302, () => "/again");
    let hops = 0;
    const chain = await redirecting(302, () => (++hops === 11 ? "/end" : `/${hops}`));
    try {
      const limits = { max_redirects: 3 };
      expect(await failure(loop.url, opened(loop, limits))).toMatchObject({ code: "too_many_redirects" });
      expect(loop.connections()).toBe(4);
      expect(await failure(chain.url, opened(chain, limits))).toMatchObject({ category: "permanent" });
      hops = 8;
      const { body, redirects } = await guardedRequest({ url: chain.url, policy: opened(chain, limits) });
      expect([Buffer.from(body).toString(), redirects]).toEqual(["arrived", 3]);
    } finally {
      await loop.close();
      await chain.close();
    }
  });

  test("with redirects off, the redirect is the answer", async () => {
    const listener = await redirecting(302, () => `http://127.0.0.1:${inner.port}/`);
    const before = inner.connections();
    try {
      const { status } = await guardedRequest({ url: listener.url, policy: opened(listener) });
      expect([status, inner.connections()]).toEqual([302, before]);
    } finally {
      await listener.close();
    }
  });

  test.each([
    [307, "POST", "sent"],
    [308, "POST", "sent"],
    [303, "GET", ""],
    [302, "GET", ""],
    [301, "GET", ""],
  ])("%i of a POST to another host arrives as %s, without credentials", async (status, method, body) => {
    const other = await listen((_, response) => response.end());
    const listener = await redirecting(status, () => `${other.url}/next`);
    const allow_private = [listener, other].map(({ port }) => `127.0.0.1:${port}`);
    const headers = {
      authorization: "Bearer x",
      cookie: "a=b",
      "x-api-key": "k",
      accept: "text/plain",
      "content-type": "text/plain",
    };
    try {
      const policy = open({ allow_private, max_redirects: 3 });
      await guardedRequest({ url: listener.url, method: "POST", headers, body: "sent", policy });
      expect(listener.requests).toMatchObject([{ method: "POST", body: "sent", headers }]);
      expect(other.requests).toMatchObject([{ method, body, headers: { accept: "text/plain" } }]);
      const { authorization, cookie, "x-api-key": key, "content-type": type } = other.requests[0]!.headers;
      expect([authorization, cookie, key]).toEqual([undefined, undefined, undefined]);
      expect(type).toBe(body === "" ? undefined : "text/plain");
    } finally {
      await listener.close();
      await other.close();
    }
  });

  test("on the same host, credentials go along", async () => {
    const listener = await redirecting(307, () => "/end");
    try {
      const policy = opened(listener, { max_redirects: 1 });
      await guardedRequest({ url: listener.url, headers: { authorization: "Bearer x" }, policy });
      expect(listener.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer x", "Bearer x"]);
    } finally {
      await listener.close();
    }
  });
});

describe("hostile answers", () => {
  async function answered(raw: (socket: import("node:net").Socket) => void, more: Partial<OutboundPolicy> = {}) {
    const listener = await listenRaw(raw);
    try {
      return await guardedRequest({ url: listener.url, policy: opened(listener, more) });
    } finally {
      await listener.close();
    }
  }

  async function failed(raw: (socket: import("node:net").Socket) => void, more: Partial<OutboundPolicy> = {}) {
    return answered(raw, more).then(
      () => null,
      (error: unknown) => classify(error),
    );
  }

  test("an endless body is cut off at the limit, and the connection with it", async () => {
    let sent = 0;
    const piece = Buffer.alloc(64 * 1024);
    const answer = await answered(
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const pour = () => {
          while (!socket.destroyed && socket.write(piece)) sent += piece.length;
        };
        socket.on("drain", pour);
        pour();
      },
      { max_response_bytes: 100_000 },
    );
    expect(answer).toMatchObject({ truncated: true, body: { length: 100_000 } });
    // What the sockets' buffers took, and no more.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test("a limit that is no number lets nothing through", async () => {
    const raw = (socket: import("node:net").Socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
    for (const most of [Number.NaN, Number.POSITIVE_INFINITY, "x" as never]) {
      expect(await answered(raw, { max_response_bytes: most })).toMatchObject({ truncated: true, body: { length: 0 } });
    }
  });

  test("a gzip bomb is unpacked to the limit and no further", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });
    expect(bomb.length).toBeLessThan(600_000);
    const before = process.memoryUsage().rss;
    const answer = await answered(
      (socket) => {
        socket.end(
          Buffer.concat([
            Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`),
            bomb,
          ]),
        );
      },
      { max_decompressed_bytes: 1_000_000 },
    );
    expect(answer).toMatchObject({ truncated: true, body: { length: 1_000_000 } });
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  });

  test("gzip, deflate and br are unpacked; packed twice, cut short or broken they are not an answer", async () => {
    const { brotliCompressSync, deflateSync } = await import("node:zlib");
    const plain = Buffer.from("hello ".repeat(100));
    for (const [encoding, packed] of [
      ["gzip", gzipSync(plain)],
      ["deflate", deflateSync(plain)],
      ["br", brotliCompressSync(plain)],
    ] as const) {
      const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\n\r\n`;
      const { body } = await answered((socket) => socket.end(Buffer.concat([Buffer.from(head), packed])));
      expect(Buffer.from(body).equals(plain)).toBe(true);
      const half = packed.subarray(0, packed.length - 6);
      const broken = await failed((socket) => socket.end(Buffer.concat([Buffer.from(head), half])));
      expect(broken).toMatchObject({ category: "transient", code: "bad_response" });
    }
    const twice = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\n\r\n";
    expect(await failed((socket) => socket.end(twice))).toMatchObject({ category: "permanent", code: "bad_response" });
  });

  test("a byte a second takes no longer than the whole call may", async () => {
    const told = await failed(
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const timer = setInterval(() => socket.write("x"), 50);
        socket.on("close", () => clearInterval(timer));
      },
      { total_timeout_ms: 300 },
    );
    expect(told).toMatchObject({ category: "transient", code: "timeout" });
  });

  test("headers that never end, or drip, or are a hundred thousand, are cut off", async () => {
    const many = `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(100_000)}\r\n`;
    expect(await failed((socket) => socket.end(many))).toMatchObject({
      category: "permanent",
      code: "response_too_large",
    });
    const few = `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(101)}content-length: 0\r\n\r\n`;
    expect(await failed((socket) => socket.end(few))).toMatchObject({
      category: "permanent",
      code: "response_too_large",
    });
    const drip = (socket: import("node:net").Socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("a: b\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    };
    expect(await failed(drip, { headers_timeout_ms: 200 })).toMatchObject({ category: "transient", code: "timeout" });
  });

  test("Content-Length may promise too little or too much", async () => {
    const little = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello and more that was not promised";
    const { body } = await answered((socket) => socket.end(little));
    expect(Buffer.from(body).toString()).toBe("hello");
    const much = "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nhello";
    expect(await failed((socket) => socket.end(much))).toMatchObject({ category: "transient", code: "connection" });
    const both = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    expect(await failed((socket) => socket.end(both))).toMatchObject({ code: "bad_response" });
    const huge = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\nhello";
    expect(await failed((socket) => socket.end(huge))).not.toBeNull();
  });

  test("silence, a reset, nonsense, another protocol: each is told apart, and worth a retry", async () => {
    expect(await failed(() => {}, { headers_timeout_ms: 200 })).toMatchObject({ code: "timeout" });
    expect(await failed((socket) => socket.resetAndDestroy())).toMatchObject({
      category: "transient",
      code: "connection",
    });
    expect(await failed((socket) => socket.end("nonsense\r\n\r\n"))).toMatchObject({ code: "bad_response" });
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
    expect(await failed((socket) => socket.write(upgrade))).toMatchObject({ category: "transient" });
    const gone = await listen(() => {});
    await gone.close();
    const told = await failure(gone.url, opened(gone));
    expect(told).toMatchObject({ category: "transient", code: "connection" });
    expect(told.detail?.stack ?? "").not.toContain("ECONNREFUSED");
  });

  test("a large body may take longer to send than an answer may take to come", async () => {
    const listener = await listenRaw((socket) => {
      socket.pause();
      setTimeout(() => {
        socket.on("data", (piece) => {
          // The last byte of the body is the only one of its kind.
          if (piece.at(-1) === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nread");
        });
        socket.resume();
      }, 300);
    });
    const policy = opened(listener, { headers_timeout_ms: 200 });
    try {
      const body = Buffer.alloc(32_000_000);
      body[body.length - 1] = 1;
      const call = guardedRequest({ url: listener.url, method: "PUT", body, policy });
      expect(await call).toMatchObject({ status: 200, body: { length: 4 } });
    } finally {
      await listener.close();
    }
  });

  test("whoever asked may stop: the call ends with the reason given", async () => {
    const listener = await listenRaw((socket) => socket.write("HTTP/1.1 200 OK\r\n\r\nhalf"));
    const stop = new AbortController();
    try {
      const call = guardedExchange(
        { url: listener.url, policy: opened(listener), signal: stop.signal },
        async (_, body) => {
          for await (const _piece of body) stop.abort(new Error("stopped"));
        },
      );
      await expect(call).rejects.toThrow("stopped");
      stop.abort();
      const late = guardedRequest({ url: listener.url, policy: opened(listener), signal: stop.signal });
      await expect(late).rejects.toThrow("stopped");
      expect(listener.connections()).toBe(1);
    } finally {
      await listener.close();
    }
  });
});
