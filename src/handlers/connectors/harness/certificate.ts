// A certificate nobody has signed but itself, made on the spot: no private key has to lie in the package.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface Certificate {
  key: string;
  cert: string;
}

/** For one DNS name or IPv4 address. */
export function selfSigned(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = toBeSigned(host, publicKey);
  const signature = sign("sha256", body, privateKey);
  const whole = sequence(body, algorithm, bitString(signature));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const bitString = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const text = (value: string) => der(0x0c, Buffer.from(value, "utf8"));
/** ecdsa-with-SHA256 */
const algorithm = sequence(oid("2a8648ce3d040302"));

function toBeSigned(host: string, key: KeyObject): Buffer {
  const spki = key.export({ type: "spki", format: "der" });
  const name = sequence(der(0x31, sequence(oid("550403"), text(host))));
  const serial = createHash("sha256").update(spki).digest().subarray(0, 8);
  serial[0] = (serial[0]! & 0x7f) | 0x01;
  const valid = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x18, Buffer.from("20991231235959Z")));
  const numbers = /^\d+(\.\d+){3}$/.test(host) ? host.split(".").map(Number) : null;
  const alternative = numbers === null ? der(0x82, Buffer.from(host)) : der(0x87, Buffer.from(numbers));
  const extensions = sequence(
    sequence(oid("551d11"), der(0x04, sequence(alternative))),
    // It may sign itself: a client that trusts it trusts it as its own authority.
    sequence(oid("551d13"), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
  );
  return sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    valid,
    name,
    spki,
    der(0xa3, extensions),
  );
}
