import type { Access } from "../../cli/service/call-service";
import { AGAIN, DeployProblem } from "./problems";

/**
 * The check of the command line's key at the deployed service: what each response means, when the
 * check is repeated, and what a failure advises.
 */

/** One response to the check. */
export type KeyCheck =
  | { type: "accepted" }
  /** The service does not know the key, or the key was revoked or has expired. */
  | { type: "refused" }
  /** The service lacks a secret, or a setting is invalid. `message` is the service's own. */
  | { type: "not_set_up"; message: string }
  /** No response of this service, as from a new address. */
  | { type: "unreachable" };

/** A key at a service. `isNew`: this run created the key, or completed an interrupted creation. */
type CheckedKey = { server: string; key: string; isNew: boolean };

type Tally = { checks: number; refusals: number };

/** What a check touches outside itself. */
export type CheckPorts = {
  /** Sends the key to the service once. */
  checkKey: (server: string, key: string) => Promise<KeyCheck>;
  wait: (ms: number) => Promise<void>;
  say: (line: string) => void;
};

/** Most checks of one run: a new address can take some minutes until it is reachable. */
export const MAX_CHECKS = 60;
/** Most refusals that are retried: a new secret reaches all locations of the service in seconds. */
export const MAX_REFUSALS = 10;
export const CHECK_EVERY_MS = 3_000;

/**
 * What follows a check; `tally` includes it. The refusal of a key that an earlier run stored is
 * final, because such a key has been in the database since then.
 */
function decideAfterCheck(
  check: KeyCheck,
  { checks, refusals }: Tally,
  isNew: boolean,
): "finish" | "retry" | "fail" {
  if (check.type === "accepted") return "finish";
  if (check.type === "refused" && !isNew) return "fail";
  return checks < MAX_CHECKS && refusals < MAX_REFUSALS ? "retry" : "fail";
}

/** Only the service's own codes count: another server at the address knows nothing of the key. */
export function keyCheckOf(access: Access): KeyCheck {
  if (access.kind !== "refused") return { type: "accepted" };
  if (access.code === "unauthorized") return { type: "refused" };
  if (access.code === "access_closed") return { type: "not_set_up", message: access.message };
  return { type: "unreachable" };
}

/**
 * Checks the key until the outcome is final, and prints each new outcome. Throws `DeployProblem`
 * with the next command unless the service accepts the key. `createKey` is the command that creates
 * another key.
 */
export async function confirmKey(
  checked: CheckedKey,
  createKey: string,
  ports: CheckPorts,
): Promise<void> {
  const { server, key, isNew } = checked;
  const tally: Tally = { checks: 0, refusals: 0 };
  let printed: KeyCheck["type"] | null = null;
  for (;;) {
    const check = await ports.checkKey(server, key);
    tally.checks += 1;
    if (check.type === "refused" || check.type === "not_set_up") tally.refusals += 1;
    if (check.type !== printed) ports.say(`    ${outcomeInWords(check, isNew)}`);
    printed = check.type;
    const decision = decideAfterCheck(check, tally, isNew);
    if (decision === "finish") return;
    if (decision === "fail") throw new DeployProblem(explain(check, checked, createKey));
    await ports.wait(CHECK_EVERY_MS);
  }
}

function outcomeInWords({ type }: KeyCheck, isNew: boolean): string {
  switch (type) {
    case "accepted":
      return "the service accepts the key";
    case "refused":
      return isNew
        ? "the service does not accept the new key yet"
        : "the service refuses the stored key";
    case "not_set_up":
      return "the service does not have its secrets and settings yet";
    case "unreachable":
      return "the service does not respond yet";
  }
}

function explain(check: KeyCheck, { server, isNew }: CheckedKey, createKey: string): string {
  switch (check.type) {
    case "refused":
      return isNew
        ? `${server} refuses the key that this run created. Wait a minute, then: ${AGAIN}`
        : `${server} refuses the key that is stored on this machine: it was revoked, has expired, or belongs to another deployment. The service has other valid keys, so no key was created. Create one: ${createKey}\nStore it: npm run ask -- login --server ${server}`;
    case "not_set_up":
      return `${server} is deployed and refuses all keys. ${check.message}\nA new secret can take some seconds to arrive. Fix the problem if it persists, then: ${AGAIN}`;
    default:
      return `${server} is deployed and the command line is logged in, but the service does not respond yet. A new workers.dev address can take some minutes. Check: npm run ask -- doctor`;
  }
}
