// Takes connections on the addresses it is given and hands them on to a socket in the file system, which every network namespace can
// reach: the database's end of a network that exists only for a test.
import { connect, createServer } from "node:net";

const [socket_path, ...addresses] = process.argv.slice(2) as [string, ...string[]];

for (const host of addresses) {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect(socket_path);
    client.pipe(upstream).pipe(client);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(5432, host, resolve));
}
process.stdout.write("ready\n");
