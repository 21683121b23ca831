// The contract of connectors: a name, what a tenant configures, what a task gives, and a function that calls through the guard.
// docs/connectors.md tells it in words.
import { z } from "zod";
import { defineHandler, type Handler, type Output } from "../../core/declare/declare.js";
import { Permanent } from "../../core/errors/errors.js";
import { checkedConfig, connector_prefix } from "../../core/places/connector_config.js";
import type { TaskContext } from "../../core/task/context.js";
import { type Call, type CallerConfig, makeCall } from "./caller.js";

/** What a connector's function is given beside the parameters. */
export interface Connection<Config> {
  ctx: TaskContext;
  /** The one way out: guarded, limited, with secrets put in. */
  call: Call;
  config: Config;
  secret(name: string): Promise<string>;
}

export interface ConnectorDeclaration<
  Parameters extends z.ZodObject = z.ZodObject,
  Configuration extends z.ZodObject = z.ZodObject,
> {
  /** "acme.crm": its task type is "connector.acme.crm". */
  name: string;
  /** What a task gives. `config`, the name of a configuration, is always allowed. */
  parameters?: Parameters;
  /** What a tenant configures once, by name: `base_url`, `headers` and `query` mean the same for every connector. */
  configuration?: Configuration;
  /** What it returns: anything else fails the task. */
  result?: z.ZodType;
  timeout_s?: number;
  run(parameters: Output<Parameters>, connection: Connection<Output<Configuration>>): unknown;
}

const none = z.object({});

export function defineConnector<Parameters extends z.ZodObject, Configuration extends z.ZodObject = typeof none>(
  declaration: ConnectorDeclaration<Parameters, Configuration>,
): Handler {
  const { name, run, result, timeout_s } = declaration;
  const configuration = declaration.configuration ?? none;
  const parameters = z.strictObject({
    ...declaration.parameters?.shape,
    config: z.string().max(63).optional().describe("The name of a configuration of this connector"),
  });
  return defineHandler(
    connector_prefix + name,
    { parameters, configuration, result, timeout_s },
    async ({ config: config_name, ...given }, ctx) => {
      const config =
        config_name === undefined
          ? checkedConfig({}, configuration)
          : await readConfig(ctx, name, config_name, configuration);
      const call = makeCall(ctx, config as CallerConfig, name, config_name ?? null);
      return run(given as never, { ctx, call, config: config as never, secret: (one) => ctx.secret(one) });
    },
  );
}

async function readConfig(ctx: TaskContext, connector: string, name: string, own: z.ZodObject) {
  const [row] = await ctx.db(
    (session) =>
      session.sql<{ reply: { config: unknown } | null }>`select app.get_connector(${connector}, ${name}) as reply`,
  );
  const found = row?.reply;
  if (!found) {
    const fix = `set it: fanfold connectors set ${connector} ${name} base_url=https://…`;
    throw new Permanent(`there is no configuration "${name}" of connector "${connector}": ${fix}`, {
      code: "no_configuration",
    });
  }
  try {
    return checkedConfig(found.config, own);
  } catch (error) {
    const why = error instanceof Error ? `. ${error.message}` : "";
    throw new Permanent(
      `the configuration "${name}" of connector "${connector}" no longer fits it: set it again${why}`,
      {
        code: "bad_configuration",
        cause: error,
      },
    );
  }
}
