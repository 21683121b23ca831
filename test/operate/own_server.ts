// A Postgres server of one test, as a provider would run it: TLS with certificates made now, and passwords for everybody but its superuser.
import { type ChildProcess, execFileSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort, installServer, launchServer, serverAnswers, serverStopped } from "../postgres_server.js";

export interface OwnServer {
  port: number;
  folder: string;
  data_dir: string;
  bin: string;
  admin_url: string;
  process: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Certificates {
  ca: string;
  certificate: string;
  key: string;
}

/** An authority, and a certificate that it has signed for the address 127.0.0.1 and no name. */
export function makeCertificates(dir: string): Certificates {
  mkdirSync(dir, { recursive: true });
  const openssl = (...argv: string[]) => execFileSync("openssl", argv, { cwd: dir, stdio: "pipe" });
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...fresh, "-days", "2", "-subj", "/CN=own authority", "-keyout", "ca.key", "-out", "ca.pem");
  openssl("req", ...fresh, "-subj", "/CN=database", "-keyout", "server.key", "-out", "server.csr");
  writeFileSync(join(dir, "names"), "subjectAltName=IP:127.0.0.1\n");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", ...signed, "-out", "server.pem");
  return { ca: join(dir, "ca.pem"), certificate: join(dir, "server.pem"), key: join(dir, "server.key") };
}

/** `copy`: of this data folder, whose server is stopped; it starts as a standby that nobody feeds. */
export async function startOwnServer({ tls, copy }: { tls?: Certificates; copy?: string } = {}): Promise<OwnServer> {
  const installed = installServer(copy === undefined ? {} : { data: copy });
  const { folder, data_dir, bin, user, log_path } = installed;
  if (copy !== undefined) writeFileSync(join(data_dir, "standby.signal"), "");
  const settings: Record<string, string> = {};
  if (tls !== undefined) {
    for (const [name, file] of [
      ["ssl_cert_file", tls.certificate],
      ["ssl_key_file", tls.key],
    ] as const) {
      const own = join(data_dir, name);
      cpSync(file, own);
      chmodSync(own, 0o600);
      if (user.uid !== undefined) chownSync(own, user.uid, user.gid ?? user.uid);
      settings[name] = own;
    }
    settings.ssl = "on";
    const trusted = "host all postgres 127.0.0.1/32 trust\nhost replication postgres 127.0.0.1/32 trust\n";
    writeFileSync(join(data_dir, "pg_hba.conf"), `${trusted}hostssl all all 127.0.0.1/32 scram-sha-256\n`);
  }
  const port = await freePort();
  const process = launchServer(installed, { port, settings });
  const stop = async (signal: NodeJS.Signals = "SIGQUIT") => {
    if (process.exitCode === null && process.signalCode === null) await serverStopped(process, signal);
  };
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const admin_url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await serverAnswers(admin_url, process, log_path);
  return { port, folder, data_dir, bin, admin_url, process, stop };
}
