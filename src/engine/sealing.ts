// Secrets that we make ourselves and must read again (a webhook's signing secret) lie in the database sealed: AES-256-GCM
// under a key that is not there. What a sealed text is for is sealed with it, so that it opens nowhere else.
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { Permanent } from "../core/errors/errors.js";

const version = "v1";
const iv_bytes = 12;
const tag_bytes = 16;
export const seal_key_bytes = 32;

interface Key {
  /** Tells which key sealed a text, and nothing about the key. */
  id: string;
  bytes: Uint8Array;
}

export class Sealer {
  private readonly keys: readonly Key[];

  /** The first key seals, any opens: a new key is put in front, and the old one stays until nothing is sealed with it. */
  constructor(keys: readonly Uint8Array[] = []) {
    this.keys = keys.map((bytes) => {
      if (bytes.length !== seal_key_bytes) throw new RangeError(`a sealing key has ${seal_key_bytes} bytes`);
      return { id: createHash("sha256").update("fanfold sealing key").update(bytes).digest("hex").slice(0, 8), bytes };
    });
  }

  get can_seal(): boolean {
    return this.keys.length > 0;
  }

  /** `aad`: whose it is and what for; the same must be said to open it. */
  seal(text: string, aad: string): string {
    const [key] = this.keys;
    if (key === undefined) throw noKey("sealed");
    const iv = randomBytes(iv_bytes);
    const cipher = createCipheriv("aes-256-gcm", key.bytes, iv, { authTagLength: tag_bytes });
    cipher.setAAD(Buffer.from(aad, "utf8"));
    const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${key.id}.${sealed.toString("base64url")}`;
  }

  /** Proves later that a text was made here, for this purpose; null without a key. */
  sign(text: string, purpose: string): string | null {
    const [key] = this.keys;
    return key === undefined ? null : mac(key.bytes, text, purpose).toString("base64url");
  }

  /** Was it signed with any of the keys? */
  isSigned(text: string, purpose: string, signature: string): boolean {
    const given = Buffer.from(signature, "base64url");
    const found = this.keys.map(({ bytes }) => {
      const right = mac(bytes, text, purpose);
      return given.length === right.length && timingSafeEqual(given, right);
    });
    return found.includes(true);
  }

  open(sealed: string, aad: string): string {
    const [, id, content] = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/.exec(sealed) ?? [];
    if (id === undefined || content === undefined)
      throw new Permanent("this is not a sealed secret", { code: "not_sealed" });
    const key = this.keys.find((one) => one.id === id);
    if (key === undefined) throw this.can_seal ? otherKey(id) : noKey("opened");
    const bytes = Buffer.from(content, "base64url");
    try {
      const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, iv_bytes), {
        authTagLength: tag_bytes,
      });
      decipher.setAAD(Buffer.from(aad, "utf8"));
      decipher.setAuthTag(bytes.subarray(-tag_bytes));
      return Buffer.concat([decipher.update(bytes.subarray(iv_bytes, -tag_bytes)), decipher.final()]).toString("utf8");
    } catch {
      throw new Permanent("this sealed secret was altered, or sealed for something else", { code: "not_sealed" });
    }
  }
}

/** Under a key of its own for each purpose, so that none of them can be used for another, nor for sealing. */
function mac(key: Uint8Array, text: string, purpose: string): Buffer {
  const own = createHmac("sha256", key).update(`fanfold signing: ${purpose}`).digest();
  return createHmac("sha256", own).update(text).digest();
}

function noKey(what: string): Permanent {
  const fix =
    "set FANFOLD_SECRET_KEY (32 random bytes in base64: openssl rand -base64 32), the same for server and workers";
  return new Permanent(`without a key no secret can be ${what}: ${fix}`, { code: "no_secret_key" });
}

function otherKey(id: string): Permanent {
  const fix = "FANFOLD_SECRET_KEY must still hold that key, after the one that seals now";
  return new Permanent(`this secret was sealed with key ${id}, which is not among those given: ${fix}`, {
    code: "no_secret_key",
  });
}

/** What every sealed text of a tenant's is sealed for. */
export function sealedFor(tenant_id: string, purpose: string): string {
  return `${tenant_id}/${purpose}`;
}
