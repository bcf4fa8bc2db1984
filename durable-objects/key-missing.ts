import type { Backend } from "../src/config/team";
import type { CallFailure } from "../src/coordination";

/** Why a call without its key was not sent: a key may be taken away, or its endpoint moved, after the config was checked. */
export function keyMissing({ key, baseUrl }: Pick<Backend, "key" | "baseUrl">): CallFailure {
  const { host } = new URL(baseUrl);
  const name = key.from === "stored" ? key.name : "api_key";
  return {
    class: "bad_credentials",
    code: "key_missing",
    message: `The service has no ${name} for ${host} any more: set it with \`npx wrangler secret put ${name}\` (locally in .dev.vars).`,
    retryAfterMs: null,
    usage: null,
    reached: false,
  };
}
