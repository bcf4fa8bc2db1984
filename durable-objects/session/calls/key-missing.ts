import type { Backend } from "../../../src/config/team";
import type { CallFailure } from "../../../src/coordination";
import type { Opened } from "../../../src/tenancy/sealing";

/** Why a call without its key was not sent: a key may be taken away, or its endpoint moved, after the config was checked. */
export function keyMissing({ key, baseUrl }: Pick<Backend, "key" | "baseUrl">): CallFailure {
  const { host } = new URL(baseUrl);
  const name = key.from === "stored" ? key.name : "api_key";
  const message = `The service has no ${name} for ${host} any more: set it with \`npx wrangler secret put ${name}\` (locally in .dev.vars).`;
  return notSent("key_missing", message);
}

/** Why a caller's key that is kept could not go with a call. */
export function keyUnreadable(
  agent: string,
  { why, version }: Extract<Opened, { ok: false }>,
): CallFailure {
  const otherwise = "or start a new session, which brings its key along";
  const messages = {
    unknown_version: `The key of ${agent} was sealed with version ${version} of SEALING_KEYS, which the service has no more: put that version back behind the first, ${otherwise}.`,
    not_opened: `The key of ${agent} does not open: version ${version} of SEALING_KEYS is not the key it was sealed with, or what was kept has been changed. Put the right one back, ${otherwise}.`,
  };
  return notSent("key_unreadable", messages[why]);
}

const notSent = (code: string, message: string): CallFailure => ({
  class: "bad_credentials",
  code,
  message,
  retryAfterMs: null,
  usage: null,
  reached: false,
});
