import { textOf, type Account, type Reply } from "./replies";

/** A failure that the user can repair. The message names the next command. */
export class DeployProblem extends Error {
  override readonly name = "DeployProblem";
}

export const RETRY_COMMAND = "npm run deploy -- --first";
const DASHBOARD = "https://dash.cloudflare.com";

/** Failures that wrangler reports. They are recognized by wrangler's texts and the API's codes. */
const KNOWN_FAILURES: { pattern: RegExp; explain: (text: string) => string }[] = [
  {
    pattern: /"loggedIn":\s*false|not logged in|CLOUDFLARE_API_TOKEN environment variable for/i,
    explain: () => `Not logged in to Cloudflare. Run: npx wrangler login\nThen: ${RETRY_COMMAND}`,
  },
  {
    pattern: /More than one account available/,
    explain: (text) =>
      severalAccounts(
        [...text.matchAll(/^\s*`(.*)`: `(\w+)`$/gm)].map(([, name = "", id = ""]) => ({
          id,
          name,
        })),
      ),
  },
  {
    pattern: /enable R2 through the Cloudflare Dashboard|\[code: 10042\]/,
    explain: () =>
      `R2 is not enabled on this Cloudflare account. Enable it: ${DASHBOARD}/?to=/:account/r2\nThen: ${RETRY_COMMAND}`,
  },
  {
    pattern: /register a workers\.dev subdomain|\[code: 10063\]/,
    explain: (text) => {
      const [page = `${DASHBOARD}/?to=/:account/workers/onboarding`] =
        /https:\/\/dash\.cloudflare\.com\/\S+\/onboarding/.exec(text) ?? [];
      return `This Cloudflare account has no workers.dev subdomain. Register one: ${page}\nThen: ${RETRY_COMMAND}`;
    },
  },
  {
    pattern: /CPU limits are not supported for the Free plan/,
    explain: () =>
      `This Cloudflare account is on the Free plan; the service needs Workers Paid. Change the plan: ${DASHBOARD}/?to=/:account/workers/plans\nThen: ${RETRY_COMMAND}`,
  },
  {
    pattern: /maximum number of D1 databases/,
    explain: () =>
      `This Cloudflare account has no room for another D1 database. See: npx wrangler d1 list\nDelete one or upgrade the plan, then: ${RETRY_COMMAND}`,
  },
  {
    pattern: /database with that name already exists/,
    explain: () =>
      `The Worker exists without its database, as after \`wrangler secret put\` before the first deployment. Add database_name and bucket_name to wrangler.toml, then: ${RETRY_COMMAND}`,
  },
  {
    pattern: /Authentication error \[code: 10000\]/,
    explain: () =>
      `The login has no permission for this. Run: npx wrangler login\nAn API token needs the permissions to edit Workers Scripts, D1 and R2. Then: ${RETRY_COMMAND}`,
  },
  {
    pattern: /\b(fetch failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT)\b/,
    explain: () => `Cloudflare's API is unreachable. Check the network, then: ${RETRY_COMMAND}`,
  },
];

/**
 * The message for a login with several accounts. Also used before wrangler fails, after `whoami`.
 */
export const severalAccounts = (accounts: readonly Account[]): string =>
  [
    "This login has more than one Cloudflare account. Choose one:",
    ...accounts.map(
      ({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id} ${RETRY_COMMAND}    # ${name}`,
    ),
  ].join("\n");

/**
 * Explains the failure of a wrangler command. The message of an unknown failure is wrangler's text.
 */
export function explainFailure(args: readonly string[], reply: Reply): DeployProblem {
  const text = textOf(reply);
  const known = KNOWN_FAILURES.find(({ pattern }) => pattern.test(text));
  const command = args.indexOf("--command");
  const shownArgs = command < 0 ? args : args.slice(0, command);
  const explanation = known
    ? known.explain(text)
    : `${text.trim()}\nFix the problem, then: ${RETRY_COMMAND}`;
  return new DeployProblem(`\`npx wrangler ${shownArgs.join(" ")}\` failed.\n${explanation}`);
}

/**
 * Whether a command created no resource because the resource exists, as after an interrupted run.
 */
export const alreadyExists = (reply: Reply): boolean =>
  /database with that name already exists|\[code: 7502\]|already exists, and you own it|\[code: 10004\]/.test(
    textOf(reply),
  );
