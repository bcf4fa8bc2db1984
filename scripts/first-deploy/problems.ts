import { textOf, type Account, type Reply } from "./replies";

/** A failure that the user can repair. The message names the next command. */
export class DeployProblem extends Error {
  override readonly name = "DeployProblem";
}

export const AGAIN = "npm run deploy -- --first";
const DASHBOARD = "https://dash.cloudflare.com";

/** Failures that wrangler reports, by its texts and by the API's codes. */
const KNOWN: { sign: RegExp; explain: (text: string) => string }[] = [
  {
    sign: /"loggedIn":\s*false|not logged in|CLOUDFLARE_API_TOKEN environment variable for/i,
    explain: () => `Not logged in to Cloudflare. Run: npx wrangler login\nThen: ${AGAIN}`,
  },
  {
    sign: /More than one account available/,
    explain: (text) =>
      severalAccounts(
        [...text.matchAll(/^\s*`(.*)`: `(\w+)`$/gm)].map(([, name = "", id = ""]) => ({
          id,
          name,
        })),
      ),
  },
  {
    sign: /enable R2 through the Cloudflare Dashboard|\[code: 10042\]/,
    explain: () =>
      `R2 is not enabled on this Cloudflare account. Enable it: ${DASHBOARD}/?to=/:account/r2\nThen: ${AGAIN}`,
  },
  {
    sign: /register a workers\.dev subdomain|\[code: 10063\]/,
    explain: (text) => {
      const [page = `${DASHBOARD}/?to=/:account/workers/onboarding`] =
        /https:\/\/dash\.cloudflare\.com\/\S+\/onboarding/.exec(text) ?? [];
      return `This Cloudflare account has no workers.dev subdomain. Register one: ${page}\nThen: ${AGAIN}`;
    },
  },
  {
    sign: /CPU limits are not supported for the Free plan/,
    explain: () =>
      `This Cloudflare account is on the Free plan; the service needs Workers Paid. Change the plan: ${DASHBOARD}/?to=/:account/workers/plans\nThen: ${AGAIN}`,
  },
  {
    sign: /maximum number of D1 databases/,
    explain: () =>
      `This Cloudflare account has no room for another D1 database. See: npx wrangler d1 list\nDelete one or upgrade the plan, then: ${AGAIN}`,
  },
  {
    sign: /database with that name already exists/,
    explain: () =>
      `The Worker exists without its database, as after \`wrangler secret put\` before the first deployment. Add database_name and bucket_name to wrangler.toml, then: ${AGAIN}`,
  },
  {
    sign: /Authentication error \[code: 10000\]/,
    explain: () =>
      `The login has no permission for this. Run: npx wrangler login\nAn API token needs the permissions to edit Workers Scripts, D1 and R2. Then: ${AGAIN}`,
  },
  {
    sign: /\b(fetch failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT)\b/,
    explain: () => `Cloudflare's API is unreachable. Check the network, then: ${AGAIN}`,
  },
];

/** Also used before wrangler would fail, because `whoami` lists the accounts. */
export const severalAccounts = (accounts: readonly Account[]): string =>
  [
    "This login has more than one Cloudflare account. Choose one:",
    ...accounts.map(({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id} ${AGAIN}    # ${name}`),
  ].join("\n");

/** The failure of a wrangler command. An unknown one has wrangler's own text. */
export function explainFailure(args: readonly string[], reply: Reply): DeployProblem {
  const text = textOf(reply);
  const known = KNOWN.find(({ sign }) => sign.test(text));
  const command = args.indexOf("--command");
  const shown = command < 0 ? args : args.slice(0, command);
  const what = known ? known.explain(text) : `${text.trim()}\nFix the problem, then: ${AGAIN}`;
  return new DeployProblem(`\`npx wrangler ${shown.join(" ")}\` failed.\n${what}`);
}

/** Whether a resource was not created because it exists, as after an interrupted run. */
export const isAlreadyThere = (reply: Reply): boolean =>
  /database with that name already exists|\[code: 7502\]|already exists, and you own it|\[code: 10004\]/.test(
    textOf(reply),
  );
