import { parseArgs } from "node:util";
import { UsageError } from "../../local/command-line";
import { isTenant, LOCAL_TENANT } from "../../src/tenancy/principal";

export const FIRST_DEPLOY_USAGE = `npm run deploy -- --first [options]

Creates what a new deployment needs: database, bucket, secrets, the first key.
Then logs the command line in.
It can be repeated: what exists is not created again, and no secret is replaced.

  --dry-run           print the steps and the bundle's size; needs no network
  --tenant NAME       the tenant of the first key (main)
  --no-provider-keys  do not copy the provider keys of .dev.vars to the
                      deployment
  --env NAME          an environment of the wrangler configuration
  --config FILE       another wrangler configuration, as TOML`;

/** `env`: `null` means the default environment of the wrangler configuration. */
export type FirstDeployArguments = {
  help: boolean;
  dryRun: boolean;
  tenant: string;
  withProviderKeys: boolean;
  env: string | null;
  config: string;
};

export const isFirstDeploy = (args: readonly string[]): boolean => args.includes("--first");

/**
 * Parses the arguments. Throws `UsageError` for other options, also for those of `wrangler deploy`.
 */
export function firstDeployArguments(args: readonly string[]): FirstDeployArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      first: { type: "boolean" },
      help: { type: "boolean", short: "h", default: false },
      "dry-run": { type: "boolean", default: false },
      tenant: { type: "string", default: "main" },
      "no-provider-keys": { type: "boolean", default: false },
      env: { type: "string", short: "e" },
      config: { type: "string", short: "c", default: "wrangler.toml" },
    },
  });
  const { help, tenant, env, config } = values;
  if (!isTenant(tenant) || tenant === LOCAL_TENANT)
    throw new UsageError(
      `--tenant is 3 to 40 lower-case letters, digits and underscores, and not \`${LOCAL_TENANT}\`.`,
    );
  if (!config.endsWith(".toml"))
    throw new UsageError(`--config is a TOML file such as wrangler.toml, not "${config}".`);
  return {
    help,
    dryRun: values["dry-run"],
    tenant,
    withProviderKeys: !values["no-provider-keys"],
    env: env ?? null,
    config,
  };
}
