// A file of this browser into bronze: announced, sent part by part, and put in its place. Only to this very server: the page's policy lets it
// send nothing elsewhere, so where a bucket keeps the files the command line brings them.
import type { UploadWithParts } from "../../../../src/core/api/files/uploads.js";
import { ApiProblem, request } from "../../api/call.js";

export interface Sending {
  key: string;
  file: File;
  signal: AbortSignal;
  onProgress(sent: number): void;
}

/** Larger ones would be read into memory for it. */
const HASHED_BYTES = 64 * 1024 * 1024;

/** Resolves with what jobs call the file. */
export async function uploadFile({ key, file, signal, onProgress }: Sending): Promise<string> {
  const sha256 = await sha256Of(file);
  const body = { key, bytes: file.size, overwrite: true, sha256: sha256 ?? undefined };
  let upload = (await (await request("POST", "/api/files", { body, signal })).json()) as UploadWithParts;
  const { upload_id } = upload;
  let sent = 0;
  for (;;) {
    for (const part of upload.parts) {
      if (!part.url.startsWith("/")) {
        await request("DELETE", "/api/files/{upload_id}", { params: { upload_id } }).catch(() => undefined);
        throw new ApiProblem({
          code: "elsewhere",
          detail: "this service keeps files in a bucket, to which a page may send nothing",
          hint: "bring it with the command line, as shown here, or with the client; then name its place",
        });
      }
      await sendPart(part, file.slice(part.offset, part.offset + part.bytes), signal);
      sent += part.bytes;
      onProgress(Math.min(sent, file.size));
    }
    if (upload.missing <= upload.parts.length) break;
    upload = (await (
      await request("GET", "/api/files/{upload_id}", { params: { upload_id }, signal })
    ).json()) as UploadWithParts;
  }
  const done = await request("POST", "/api/files/{upload_id}/complete", { params: { upload_id }, body: {}, signal });
  return ((await done.json()) as { ref: string }).ref;
}

async function sendPart(part: UploadWithParts["parts"][number], bytes: Blob, signal: AbortSignal): Promise<void> {
  const response = await fetch(new URL(part.url.replace(/^\//, ""), document.baseURI), {
    method: part.method,
    headers: { "x-fanfold-request": "1", ...part.headers },
    credentials: "same-origin",
    body: bytes,
    signal,
  });
  if (response.ok) return;
  const told = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  throw new ApiProblem({ ...told, status: response.status });
}

/** null where the browser keeps its digests from pages that did not come by https. */
async function sha256Of(file: File): Promise<string | null> {
  if (file.size > HASHED_BYTES || globalThis.crypto?.subtle === undefined) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
