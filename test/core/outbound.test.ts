// Addresses and policies by themselves: what is anybody's to call, what an operator opens, what a tenant narrows.
import { describe, expect, test } from "vitest";
import { innerIpv4, isIn, parseAddress, parseBlock, specialAddress } from "../../src/core/places/addresses.js";
import {
  default_policy,
  isAllowedHost,
  judgeAddress,
  judgeUrl,
  narrowed,
  type OutboundPolicy,
  parseOpening,
  policyProblems,
} from "../../src/core/places/outbound.js";

const policy = (more: Partial<OutboundPolicy> = {}): OutboundPolicy => ({ ...default_policy, ...more });

describe("addresses", () => {
  test.each([
    ["1.2.3.4", [1, 2, 3, 4]],
    ["::1", [...new Array(15).fill(0), 1]],
    ["2001:db8::1.2.3.4", [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]],
    ["::", new Array(16).fill(0)],
    ["1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ])("%s is read", (text, bytes) => expect(parseAddress(text)).toEqual(bytes));

  test.each([
    "",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "0x7f.0.0.1",
    "1.2.3.4.5",
    "127.1",
    "1 .2.3.4",
    "localhost",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%eth0",
    "::1.2.3",
    "1.2.3.4::",
    "12345::",
    "g::",
    "1:2:3:4:5:6:7::8:9",
  ])("%j is no address", (text) => expect(parseAddress(text)).toBeNull());

  test.each([
    "8.8.8.8",
    "93.184.215.14",
    "1.1.1.1",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "223.255.255.255",
    "168.63.129.15",
    "168.63.129.17",
    "192.0.1.1",
    "198.17.255.255",
    "198.20.0.0",
    "2606:4700:4700::1111",
    "2a00:1450:4001:800::200e",
    "2001:200::1",
    "2001:4860:4860::8888",
    "3ffe::1",
    "2001:4860:4860::5efe:808:808",
  ])("%s is anybody's to call", (text) => expect(specialAddress(parseAddress(text)!)).toBeNull());

  test.each([
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::10.0.0.1", "10.0.0.1"],
    ["64:ff9b::10.0.0.1", "10.0.0.1"],
    ["2002:a00:1::", "10.0.0.1"],
    ["2001:0:4136:e378:8000:63bf:f5ff:fffe", "10.0.0.1"],
    ["2606:4700::1111", null],
  ])("inside %s travels %s", (text, inner) => {
    expect(innerIpv4(parseAddress(text)!)?.address.join(".") ?? null).toBe(inner);
  });

  test("a block holds what its bits say, and never the other kind of address", () => {
    expect(isIn(parseAddress("10.255.0.1")!, parseBlock("10.0.0.0/8")!)).toBe(true);
    expect(isIn(parseAddress("11.0.0.1")!, parseBlock("10.0.0.0/8")!)).toBe(false);
    expect(isIn(parseAddress("10.0.0.129")!, parseBlock("10.0.0.128/25")!)).toBe(true);
    expect(isIn(parseAddress("10.0.0.127")!, parseBlock("10.0.0.128/25")!)).toBe(false);
    expect(isIn(parseAddress("::ffff:10.0.0.1")!, parseBlock("0.0.0.0/0")!)).toBe(false);
    for (const wrong of ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "10.0.0.0/-1", "x/8"]) {
      expect(parseBlock(wrong)).toBeNull();
    }
  });
});

describe("policies", () => {
  test("nothing is open by default but public addresses over TLS", () => {
    expect(judgeUrl("https://example.com/x", policy())).toMatchObject({ host: "example.com", port: 443 });
    expect(judgeUrl("http://example.com/x", policy())).toHaveProperty("refused");
    expect(judgeUrl("https://example.com:8443/", policy())).toHaveProperty("refused");
    expect(judgeUrl("https://example.com./", policy())).toMatchObject({ host: "example.com" });
    expect(judgeUrl("https://bücher.example.com/", policy())).toMatchObject({ host: "xn--bcher-kva.example.com" });
  });

  test("an opening is for its addresses and its port", () => {
    const open = policy({ allow_private: ["10.1.0.0/16", "127.0.0.1:8080", "[::1]:8080", "fd00::/8"] });
    expect(judgeAddress("10.1.2.3", 443, open)).toBeNull();
    expect(judgeAddress("10.2.2.3", 443, open)).toContain("private");
    expect(judgeAddress("10.1.2.3", 8080, open)).not.toBeNull();
    expect(judgeAddress("127.0.0.1", 8080, open)).toBeNull();
    expect(judgeAddress("127.0.0.1", 443, open)).toContain("loopback");
    expect(judgeAddress("::1", 8080, open)).toBeNull();
    expect(judgeAddress("fd12::1", 443, open)).toBeNull();
    expect(judgeAddress("8.8.8.8", 8080, open)).toContain("port");
    expect(judgeUrl("https://intranet/", policy({ allow_names: ["intranet"] }))).toMatchObject({ host: "intranet" });
    expect(parseOpening("127.0.0.1:99999")).toBeNull();
  });

  test("a list of hosts is whole names and whole endings", () => {
    const allow_hosts = ["api.example.com", "*.example.org"];
    expect(
      ["api.example.com", "a.example.org", "a.b.example.org"].every((one) => isAllowedHost(one, { allow_hosts })),
    ).toBe(true);
    for (const host of [
      "example.com",
      "xapi.example.com",
      "example.org",
      "evilexample.org",
      "api.example.com.evil.net",
    ]) {
      expect(isAllowedHost(host, { allow_hosts })).toBe(false);
    }
    expect(isAllowedHost("any.net", { allow_hosts: [] })).toBe(false);
  });

  test("a tenant only takes away", () => {
    const operators = policy({
      ports: [443, 8443],
      allow_hosts: ["*.example.com"],
      max_redirects: 2,
      allow_private: ["10.0.0.1:9000"],
    });
    const asked = {
      allow_http: true,
      ports: [22, 443],
      max_redirects: 9,
      timeout_s: 9999,
      max_response_bytes: 2 ** 40,
      allow_hosts: ["api.example.com", "*.deep.example.com", "evil.net", "*"],
    };
    expect(narrowed(operators, asked)).toMatchObject({
      allow_http: false,
      ports: [443],
      max_redirects: 2,
      allow_private: [],
      total_timeout_ms: operators.total_timeout_ms,
      max_response_bytes: operators.max_response_bytes,
      allow_hosts: ["api.example.com", "*.deep.example.com"],
    });
    // One name of the ending that is allowed does not bring the whole ending.
    expect(narrowed(operators, { allow_hosts: ["x.example.com"] }).allow_hosts).toEqual(["x.example.com"]);
    expect(narrowed(operators, { allow_hosts: ["*.com"] }).allow_hosts).toEqual(["*.example.com"]);
    expect(narrowed(operators, { timeout_s: 2 })).toMatchObject({ total_timeout_ms: 2000, connect_timeout_ms: 2000 });
    expect(narrowed(operators, {})).toEqual(operators);
  });

  test("what is wrong with a policy is told", () => {
    const wrong = {
      allow_private: ["10.0.0.0/99", "localhost"],
      ports: [0, 443],
      allow_hosts: ["https://x.com", "ok.com"],
    };
    expect(policyProblems(wrong, "outbound").map(({ path }) => path)).toEqual([
      "outbound.allow_private",
      "outbound.allow_private",
      "outbound.ports",
      "outbound.allow_hosts",
    ]);
  });
});
