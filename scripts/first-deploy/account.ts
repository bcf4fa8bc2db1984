import { DeployProblem, explainFailure, severalAccounts } from "./problems";
import { accountsIn, type Reply } from "./replies";

/** The wrangler command that lists the accounts of a login. */
export const WHOAMI: readonly string[] = ["whoami", "--json"];

/**
 * Chooses the account of a deployment, and returns its id: the configured account, otherwise the
 * login's only account. `reply` is the reply to `WHOAMI`. Throws `DeployProblem` if there is no
 * login, no account, or more than one account.
 */
export function chooseAccount(reply: Reply, configured: string | undefined): string {
  if (reply.code !== 0) throw explainFailure(WHOAMI, reply);
  const accounts = accountsIn(reply);
  if (configured) return configured;
  const [first, second] = accounts;
  if (second) throw new DeployProblem(severalAccounts(accounts));
  if (first) return first.id;
  throw new DeployProblem(
    "This login has no Cloudflare account. Run: npx wrangler login\nAllow the account there.",
  );
}
