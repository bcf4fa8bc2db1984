import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import { unstable_readConfig } from "wrangler";
import { readCredentials, storeKey } from "../../cli/credentials/credentials";
import { CliError } from "../../cli/exit-codes";
import { judgeAccess } from "../../cli/service/call-service";
import { bundleSize, checkedSize } from "../../local/bundle/bundle-size";
import { wranglerReply } from "../../local/bundle/wrangler";
import { keysIn } from "../../local/provider-keys";
import { chooseAccount, WHOAMI } from "./account";
import type { FirstDeployArguments } from "./arguments";
import { type Deployment, firstDeploy } from "./first-deploy";
import { type KeyCheck, keyCheckOf } from "./key-check";
import { withNamedConfig } from "./named-config";
import { firstDeployPlan, nextCommands, EMPTY_ACCOUNT, planInWords } from "./plan";
import { readSavedSecrets, savedSecretsFile, writeSavedSecrets } from "./saved-secrets";
import { targetOf } from "./target";

const DEV_VARS = ".dev.vars";
const LOCATION = { home: homedir(), cwd: process.cwd() };
const print = (line: string): void => console.log(line);

/** Runs `npm run deploy -- --first`, and returns the exit code. */
export async function firstDeployCommand(options: FirstDeployArguments): Promise<number> {
  const { config, env, tenant } = options;
  const target = targetOf(unstable_readConfig({ config, ...(env === null ? {} : { env }) }));
  const devVars = await readFile(DEV_VARS, "utf8").catch(() => "");
  const goal = {
    target,
    tenant,
    providerKeys: options.withProviderKeys ? keysIn(devVars) : [],
  };
  if (options.dryRun) {
    print(checkedSize(await bundleSize(config)));
    planInWords(firstDeployPlan(goal, EMPTY_ACCOUNT)).forEach(print);
    return 0;
  }
  const account = await accountOf(config, env);
  const file = savedSecretsFile(target.worker, account);
  print(checkedSize(await bundleSize(config)));
  return withNamedConfig({ config, target, env }, async (writeNamedConfig) => {
    const deployed = await firstDeploy(goal, {
      ...portsOf({ options, account, file, devVars }),
      writeNamedConfig,
    });
    const { MASTER_KEY } = await readSavedSecrets(file);
    outcomeLines(deployed, MASTER_KEY === undefined ? null : file).forEach(print);
    return 0;
  });
}

async function accountOf(config: string, env: string | null): Promise<string> {
  const { account_id } = unstable_readConfig({ config, ...(env === null ? {} : { env }) });
  const configured = account_id ?? process.env["CLOUDFLARE_ACCOUNT_ID"];
  return chooseAccount(await wranglerReply(WHOAMI), configured);
}

type PortSettings = {
  options: FirstDeployArguments;
  account: string;
  file: string;
  devVars: string;
};

const portsOf = ({ options: { config, env }, account, file, devVars }: PortSettings) => ({
  wrangler: (args: readonly string[], input?: string) =>
    wranglerReply(args, {
      variables: { CLOUDFLARE_ACCOUNT_ID: account },
      ...(input === undefined ? {} : { input }),
    }),
  options: ["--config", config, ...(env === null ? [] : ["--env", env])],
  saved: {
    read: () => readSavedSecrets(file),
    write: (secrets: Parameters<typeof writeSavedSecrets>[1]) => writeSavedSecrets(file, secrets),
  },
  providerKey: (name: string) => parseEnv(devVars)[name]?.trim() ?? "",
  storeKey: async (server: string, key: string) => {
    await storeKey(server, key, LOCATION);
  },
  storedKey: async (server: string) => {
    const { keys } = await readCredentials(LOCATION);
    return Object.hasOwn(keys, server) ? (keys[server] ?? null) : null;
  },
  checkKey,
  wait: (ms: number): Promise<void> => sleep(ms),
  random: (bytes: number) => randomBytes(bytes),
  now: Date.now,
  print,
});

async function checkKey(server: string, key: string): Promise<KeyCheck> {
  try {
    return keyCheckOf(await judgeAccess({ server, key }));
  } catch (error) {
    if (error instanceof CliError) return { type: "unreachable" };
    throw error;
  }
}

/**
 * The lines to print after a deployment. `saved`: the file with its secrets; `null` if it has none.
 */
const outcomeLines = (
  { server, secrets, isLoggedIn }: Deployment,
  saved: string | null,
): string[] => [
  "",
  `The service runs at ${server}`,
  ...(saved === null
    ? []
    : [`Its secrets are in ${saved}. Keep a copy: Cloudflare does not show them again.`]),
  "Next:",
  ...(isLoggedIn ? [] : [`  npm run ask -- login --server ${server}`]),
  ...nextCommands(secrets).map((command) => `  ${command}`),
];
