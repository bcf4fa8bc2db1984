import { randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import { unstable_readConfig } from "wrangler";
import { readCredentials, storeKey } from "../../cli/credentials/credentials";
import { CliError } from "../../cli/exit-codes";
import { judgeAccess } from "../../cli/service/call-service";
import { bundleSize, checkedSize } from "../../local/bundle/bundle-size";
import { wranglerReply } from "../../local/bundle/wrangler";
import { keysIn } from "../../local/provider-keys";
import type { FirstDeployArguments } from "./arguments";
import { type Deployment, firstDeploy } from "./first-deploy";
import { type KeyCheck, keyCheckOf } from "./key-check";
import { withNames } from "./named-config";
import { firstDeployPlan, nextCommands, EMPTY_ACCOUNT, planInWords } from "./plan";
import { DeployProblem, explainFailure, severalAccounts } from "./problems";
import { accountsIn } from "./replies";
import { readSavedSecrets, savedSecretsFile, writeSavedSecrets } from "./saved-secrets";
import { targetOf } from "./target";

const DEV_VARS = ".dev.vars";
const HERE = { home: homedir(), cwd: process.cwd() };
const say = (line: string): void => console.log(line);

/** `npm run deploy -- --first`. Returns the exit code. */
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
    say(checkedSize(await bundleSize(config)));
    planInWords(firstDeployPlan(goal, EMPTY_ACCOUNT)).forEach(say);
    return 0;
  }
  const account = await accountOf(config, env);
  const file = savedSecretsFile(target.worker, account);
  say(checkedSize(await bundleSize(config)));
  const named = path.join(path.dirname(config), ".first-deploy.toml");
  try {
    const deployed = await firstDeploy(goal, {
      ...portsOf({ options, account, file, devVars }),
      writeNamedConfig: async () => {
        await writeFile(named, withNames(await readFile(config, "utf8"), target, env));
        return named;
      },
    });
    const { MASTER_KEY } = await readSavedSecrets(file);
    outcome(deployed, MASTER_KEY === undefined ? null : file).forEach(say);
    return 0;
  } finally {
    await rm(named, { force: true });
  }
}

/** The id of the account that is deployed to. */
async function accountOf(config: string, env: string | null): Promise<string> {
  const args = ["whoami", "--json"];
  const reply = await wranglerReply(args);
  if (reply.code !== 0) throw explainFailure(args, reply);
  const accounts = accountsIn(reply);
  const { account_id } = unstable_readConfig({ config, ...(env === null ? {} : { env }) });
  const chosen = account_id ?? process.env["CLOUDFLARE_ACCOUNT_ID"];
  if (chosen) return chosen;
  const [first, second] = accounts;
  if (second) throw new DeployProblem(severalAccounts(accounts));
  if (first) return first.id;
  throw new DeployProblem(
    "This login has no Cloudflare account. Run: npx wrangler login\nAllow the account there.",
  );
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
    await storeKey(server, key, HERE);
  },
  storedKey: async (server: string) => {
    const { keys } = await readCredentials(HERE);
    return Object.hasOwn(keys, server) ? (keys[server] ?? null) : null;
  },
  checkKey,
  wait: (ms: number): Promise<void> => sleep(ms),
  random: (bytes: number) => randomBytes(bytes),
  now: Date.now,
  say,
});

async function checkKey(server: string, key: string): Promise<KeyCheck> {
  try {
    return keyCheckOf(await judgeAccess({ server, key }));
  } catch (error) {
    if (error instanceof CliError) return { type: "unreachable" };
    throw error;
  }
}

/** What follows a deployment, for the terminal. */
const outcome = ({ server, secrets, isLoggedIn }: Deployment, saved: string | null): string[] => [
  "",
  `The service runs at ${server}`,
  ...(saved === null
    ? []
    : [`Its secrets are in ${saved}. Keep a copy: Cloudflare does not show them again.`]),
  "Next:",
  ...(isLoggedIn ? [] : [`  npm run ask -- login --server ${server}`]),
  ...nextCommands(secrets).map((command) => `  ${command}`),
];
