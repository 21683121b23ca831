// What the environment says of the services in which zones lie, by the vendors' own names. Pure.
import type { AzureCredentials } from "./config_shape.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The SDK finds the region itself on AWS; other services take any, but want one. */
export function s3Settings(env: Environment, endpoint: string | undefined, path_style: boolean | undefined) {
  const region = [env.AWS_REGION, env.AWS_DEFAULT_REGION].find((text) => text !== undefined && text.trim() !== "");
  return {
    ...given("endpoint", endpoint),
    ...given("path_style", path_style),
    ...given("region", region ?? (endpoint === undefined ? undefined : "us-east-1")),
  };
}

export function given<Name extends string, T>(name: Name, value: T | undefined): { [N in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: T };
}

/** The vendor's own names: what its tools read, we read. Kept nowhere else. */
export function azureCredentials(env: Environment): AzureCredentials {
  const text = (name: string) => env[name]?.trim() || undefined;
  return {
    connection_string: text("AZURE_STORAGE_CONNECTION_STRING"),
    account_key: text("AZURE_STORAGE_KEY"),
    sas_token: text("AZURE_STORAGE_SAS_TOKEN"),
  };
}
