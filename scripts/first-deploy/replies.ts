import { stripVTControlCharacters } from "node:util";
import * as z from "zod";

/** The result of a wrangler command. */
export type Reply = { code: number; stdout: string; stderr: string };

const AccountsSchema = z.looseObject({
  accounts: z.array(z.looseObject({ id: z.string(), name: z.string() })),
});
const DatabasesSchema = z.array(z.looseObject({ name: z.string(), uuid: z.string() }));
const SecretsSchema = z.array(z.looseObject({ name: z.string() }));

/**
 * Parses the JSON in the output of a command. Notices may precede the JSON. Throws without JSON.
 */
function jsonIn(output: string): unknown {
  const start = output.search(/^[[{]/m);
  if (start < 0) throw new Error(`wrangler printed no JSON:\n${output}`);
  return JSON.parse(output.slice(start));
}

export type Account = { id: string; name: string };

/** Accounts in the reply of `whoami --json`. */
export const accountsIn = ({ stdout }: Reply): Account[] =>
  AccountsSchema.parse(jsonIn(stdout)).accounts;

/** Names of the databases in the reply of `d1 list --json`. */
export const databasesIn = ({ stdout }: Reply): string[] =>
  DatabasesSchema.parse(jsonIn(stdout)).map(({ name }) => name);

/** Names of the buckets in the reply of `r2 bucket list`, which has no JSON. */
export const bucketsIn = ({ stdout }: Reply): string[] =>
  [...stripVTControlCharacters(stdout).matchAll(/^name:\s+(\S+)\s*$/gm)].map(
    ([, name = ""]) => name,
  );

/** Names of the secrets in the reply of `secret list`. */
export const secretsIn = ({ stdout }: Reply): string[] =>
  SecretsSchema.parse(jsonIn(stdout)).map(({ name }) => name);

/** Whether `secret list` failed because the Worker does not exist. */
export const isWorkerMissing = (reply: Reply): boolean =>
  reply.code !== 0 && /Worker ".*?"(?: \(env: .*?\))? not found/s.test(textOf(reply));

/** The service's origin in the reply of `deploy`; `null` if the Worker has no address. */
export function addressIn({ stdout }: Reply): string | null {
  const text = stripVTControlCharacters(stdout);
  const [onWorkersDev] = /https:\/\/[a-z0-9.-]+\.workers\.dev(?![\w.-])/.exec(text) ?? [];
  if (onWorkersDev !== undefined) return onWorkersDev;
  const [, domain] = /^\s*([a-z0-9.-]+\.[a-z]+) \(custom domain\b/m.exec(text) ?? [];
  return domain === undefined ? null : `https://${domain}`;
}

/** The complete output, without colours. */
export const textOf = ({ stdout, stderr }: Reply): string =>
  stripVTControlCharacters(`${stdout}\n${stderr}`);
