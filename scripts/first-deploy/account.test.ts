import { describe, expect, it } from "vitest";
import { chooseAccount } from "./account";
import { DeployProblem } from "./problems";
import { failed } from "./recorded-account";
import type { Reply } from "./replies";

const ACME = { id: "a".repeat(32), name: "Acme" };
const BETA = { id: "b".repeat(32), name: "Beta" };

/** The reply of `wrangler whoami --json` to a login with these accounts. */
const whoami = (...accounts: { id: string; name: string }[]): Reply => ({
  code: 0,
  stdout: `${JSON.stringify(
    {
      loggedIn: true,
      authType: "OAuth Token",
      email: "ada@example.com",
      accounts,
      tokenPermissions: ["account:read", "workers:write", "d1:write"],
    },
    null,
    2,
  )}\n`,
  stderr: "",
});

const LOGGED_OUT: Reply = { code: 1, stdout: '{"loggedIn":false}\n', stderr: "" };

function problemOf(reply: Reply, configured?: string): string {
  try {
    chooseAccount(reply, configured);
  } catch (error) {
    if (error instanceof DeployProblem) return error.message;
    throw error;
  }
  return "";
}

describe("the account of a first deployment", () => {
  it.each([
    { name: "the only account of the login", reply: whoami(ACME), account: ACME.id },
    {
      name: "the configured account if the login has several",
      reply: whoami(ACME, BETA),
      configured: BETA.id,
      account: BETA.id,
    },
    {
      name: "the configured account even if the token cannot list it",
      reply: whoami(),
      configured: BETA.id,
      account: BETA.id,
    },
    {
      name: "the only account if the configured id is empty",
      reply: whoami(ACME),
      configured: "",
      account: ACME.id,
    },
    {
      name: "found in the JSON if wrangler prints a notice before it",
      reply: { ...whoami(ACME), stdout: `An update is available.\n\n${whoami(ACME).stdout}` },
      account: ACME.id,
    },
  ])("is $name", ({ reply, configured, account }) => {
    expect(chooseAccount(reply, configured)).toBe(account);
  });

  it("must be chosen by the user if the login has several; the message has a command for each", () => {
    const problem = problemOf(whoami(ACME, BETA));
    for (const { id, name } of [ACME, BETA])
      expect(problem).toMatch(
        new RegExp(`CLOUDFLARE_ACCOUNT_ID=${id} npm run deploy -- --first .*${name}$`, "m"),
      );
  });

  it.each([
    { name: "without a login", reply: LOGGED_OUT },
    { name: "without a login, even with a configured account", reply: LOGGED_OUT, id: ACME.id },
    { name: "without an account", reply: whoami() },
  ])("cannot be chosen $name; the message contains the login command", ({ reply, id }) => {
    expect(problemOf(reply, id)).toContain("npx wrangler login");
  });

  it("cannot be chosen after an unknown failure; the message contains wrangler's text", () => {
    const problem = problemOf(failed("The moon is in the way."));
    expect(problem).toContain("`npx wrangler whoami --json`");
    expect(problem).toContain("The moon is in the way.");
    expect(problem).toContain("npm run deploy -- --first");
  });
});
