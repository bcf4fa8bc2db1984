import type { Access } from "../../cli/service/call-service";
import { RETRY_COMMAND, DeployProblem } from "./problems";

/**
 * Checks whether the deployed service accepts the command line's key. This module decides what each
 * response means, when the check is repeated, and what the user should do after a failure.
 */

/** One response to the check. */
export type KeyCheck =
  | { type: "accepted" }
  /** The service does not know the key, or the key was revoked or has expired. */
  | { type: "refused" }
  /** The service lacks a secret, or a setting is invalid. `message` is the service's message. */
  | { type: "not_set_up"; message: string }
  /** The service did not respond. A new address is unreachable at first. */
  | { type: "unreachable" };

/** The key to check. `isNew`: this run created the key, or completed an interrupted creation. */
type CheckedKey = { server: string; key: string; isNew: boolean };

type CheckCounts = { checks: number; refusals: number };

/** Everything outside the process that a check uses. */
export type CheckPorts = {
  /** Sends the key to the service once. */
  checkKey: (server: string, key: string) => Promise<KeyCheck>;
  wait: (ms: number) => Promise<void>;
  print: (line: string) => void;
};

/** Most checks of one run: a new address can take some minutes until it is reachable. */
export const MAX_CHECKS = 60;
/** Most refusals that are retried: a new secret reaches all locations of the service in seconds. */
export const MAX_REFUSALS = 10;
export const CHECK_EVERY_MS = 3_000;

/**
 * Decides what to do after a check. The counts include this check. The refusal of a key that an
 * earlier run stored is final, because such a key has been in the database since that run.
 */
function decideAfterCheck(
  check: KeyCheck,
  { checks, refusals }: CheckCounts,
  isNew: boolean,
): "finish" | "retry" | "fail" {
  if (check.type === "accepted") return "finish";
  if (check.type === "refused" && !isNew) return "fail";
  return checks < MAX_CHECKS && refusals < MAX_REFUSALS ? "retry" : "fail";
}

/**
 * Converts a response to a check. Only the service's own error codes count as refusals, because
 * another server at the address does not know the key.
 */
export function keyCheckOf(access: Access): KeyCheck {
  if (access.kind !== "refused") return { type: "accepted" };
  if (access.code === "unauthorized") return { type: "refused" };
  if (access.code === "access_closed") return { type: "not_set_up", message: access.message };
  return { type: "unreachable" };
}

/**
 * Checks the key until the outcome is final, and prints each new outcome. Throws `DeployProblem`
 * with the next command if the service does not accept the key. `createKey` is the command that
 * creates another key.
 */
export async function confirmKey(
  checked: CheckedKey,
  createKey: string,
  ports: CheckPorts,
): Promise<void> {
  const { server, key, isNew } = checked;
  const counts: CheckCounts = { checks: 0, refusals: 0 };
  let printedType: KeyCheck["type"] | null = null;
  for (;;) {
    const check = await ports.checkKey(server, key);
    counts.checks += 1;
    if (check.type === "refused" || check.type === "not_set_up") counts.refusals += 1;
    if (check.type !== printedType) ports.print(`    ${outcomeInWords(check, isNew)}`);
    printedType = check.type;
    const decision = decideAfterCheck(check, counts, isNew);
    if (decision === "finish") return;
    if (decision === "fail") throw new DeployProblem(explainOutcome(check, checked, createKey));
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

function explainOutcome(check: KeyCheck, { server, isNew }: CheckedKey, createKey: string): string {
  switch (check.type) {
    case "refused":
      return isNew
        ? `${server} refuses the key that this run created. Wait a minute, then: ${RETRY_COMMAND}`
        : `${server} refuses the key that is stored on this machine: it was revoked, has expired, or belongs to another deployment. The service has other valid keys, so no key was created. Create one: ${createKey}\nStore it: npm run ask -- login --server ${server}`;
    case "not_set_up":
      return `${server} is deployed and refuses all keys. ${check.message}\nA new secret can take some seconds to arrive. Fix the problem if it persists, then: ${RETRY_COMMAND}`;
    default:
      return `${server} is deployed and the command line is logged in, but the service does not respond yet. A new workers.dev address can take some minutes. Check: npm run ask -- doctor`;
  }
}
