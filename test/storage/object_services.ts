// An S3 and an Azure Blob service on this machine's loopback, for tests: s3rver in this process, azurite in one of its own.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);

/** s3rver makes its continuation tokens with DES, which Node's OpenSSL no longer has; nobody reads them here. */
function giveS3rverItsCipher(): void {
  const crypto = require("node:crypto") as Record<string, (...given: unknown[]) => unknown>;
  const twice = (bytes: unknown) => Buffer.concat([bytes as Buffer, bytes as Buffer]);
  for (const name of ["createCipheriv", "createDecipheriv"]) {
    const own = crypto[name]!;
    crypto[name] = (algorithm, key, iv, ...rest) =>
      algorithm === "des" ? own("aes-128-cbc", twice(key), twice(iv)) : own(algorithm, key, iv, ...rest);
  }
}

export interface ObjectService {
  endpoint: string;
  /** Where a file would be an object, for those whose service keeps them so. */
  fileOf?(key: string): string;
  close(): Promise<void>;
}

/** With one bucket. The SDK finds the credentials where it always does. */
export async function startS3(bucket: string): Promise<ObjectService> {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-s3-"));
  giveS3rverItsCipher();
  process.env.AWS_ACCESS_KEY_ID = "S3RVER";
  process.env.AWS_SECRET_ACCESS_KEY = "S3RVER";
  const S3rver = require("s3rver") as new (
    options: object,
  ) => { run(): Promise<{ port: number }>; close(): Promise<void> };
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: dir,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    fileOf: (key) => join(dir, bucket, `${key}._S3rver_object`),
    async close() {
      await server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The emulator's own account, whose key is in its documentation. */
export const emulator = {
  account: "devstoreaccount1",
  account_key: "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
};

export async function startAzure(container: string): Promise<ObjectService> {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-azure-"));
  const main = join(require.resolve("azurite/package.json"), "..", "dist", "src", "blob", "main.js");
  const flags = [
    "--blobHost",
    "127.0.0.1",
    "--blobPort",
    "0",
    "--silent",
    "--disableTelemetry",
    "--skipApiVersionCheck",
  ];
  const child = spawn(process.execPath, [main, ...flags, "--location", dir], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const [, url] = /listens on (\S+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error("azurite has ended")));
  });
  const endpoint = `${address.replace(/\/$/, "")}/${emulator.account}`;
  const { BlobServiceClient, StorageSharedKeyCredential } = await import("@azure/storage-blob");
  const service = new BlobServiceClient(
    endpoint,
    new StorageSharedKeyCredential(emulator.account, emulator.account_key),
  );
  await service.getContainerClient(container).create();
  return {
    endpoint,
    async close() {
      child.kill();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
