// The embedded database's own sealing key: made once, kept beside the database in a file that only its owner may read.
// Without it what was sealed is lost, so a backup of the folder holds both.
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BadRequest } from "../core/errors/errors.js";
import { seal_key_bytes } from "./sealing.js";

export function keyOfFolder(data_dir: string): Uint8Array {
  const file = join(data_dir, "secret.key");
  return readKey(file) ?? makeKey(data_dir, file);
}

function readKey(file: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === seal_key_bytes) return key;
  throw new BadRequest(`${file} does not hold a key of ${seal_key_bytes} bytes in base64`, {
    hint: "restore it from a backup; if nothing was sealed yet, remove it and a new one is made",
  });
}

function makeKey(data_dir: string, file: string): Uint8Array {
  const key = randomBytes(seal_key_bytes);
  mkdirSync(data_dir, { recursive: true });
  try {
    writeFileSync(file, `${key.toString("base64")}\n`, { mode: 0o600, flag: "wx", flush: true });
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readKey(file) ?? key;
  }
}
