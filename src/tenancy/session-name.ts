import { createHmac } from "node:crypto";

/**
 * The name of a session's object. With the master key nobody who knows a session's id alone can name it; the lengths keep
 * (`ab`, `c`) and (`a`, `bc`) apart. Without one, in local development only, the pair itself.
 */
export function sessionName(masterKey: string | null, tenant: string, session: string): string {
  const pair = `${tenant.length}:${tenant}${session.length}:${session}`;
  return masterKey === null ? pair : createHmac("sha256", masterKey).update(pair).digest("hex");
}
